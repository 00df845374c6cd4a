//! The recorded demo, started from a window.

use std::sync::Arc;

use super::{Call, Nothing, payload, starts::RunStarted};
use crate::{Code, Display, Failure, demo, failure::Result};

payload! {
    /// Starts the demo.
    pub struct DemoStartRequest {
        /// On a display of its own, so that the person keeps the mouse.
        pub private: bool,
    }
}

impl Call<'_> {
    pub(super) async fn demo_start(&self, request: DemoStartRequest) -> Result<RunStarted> {
        self.app.refuse_runs("start runs of its own")?;
        let demo = demo::Demo::prepare(&self.app.paths.home.join(demo::FOLDER))?;
        let mut asked = demo.request();
        if request.private {
            asked.display = Display::Private;
        }
        let (queued, fence) = self.app.enqueue_claimed(&asked).await?;
        let app = Arc::clone(self.app);
        let guards = Arc::clone(self.guards);
        tokio::spawn(async move { app.execute_for_good(fence, &guards).await });
        Ok(queued.into())
    }

    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn demo_reset(&self, _: Nothing) -> Result<Nothing> {
        self.app.refuse_runs("remove the demo's files")?;
        let folder = self.app.paths.home.join(demo::FOLDER);
        demo::remove(&folder).map_err(|error| {
            Failure::new(
                Code::Unavailable,
                format!("cannot remove `{}`: {error}", folder.display()),
            )
        })?;
        Ok(Nothing {})
    }
}
