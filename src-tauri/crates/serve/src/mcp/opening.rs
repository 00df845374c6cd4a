//! The opened program, from the moment it is needed: a host that only looks at the tools waits for
//! no database.

use std::sync::Arc;

use openspace_app::{App, Code, Failure};
use tokio::sync::OnceCell;

type Open = dyn Fn() -> Result<Arc<App>, Failure> + Send + Sync;

/// How the program is opened, and the program once it is.
pub struct Opening {
    open: Arc<Open>,
    opened: OnceCell<Arc<App>>,
}

impl Opening {
    /// Opened by the first call that needs it. One that fails is tried again by the next.
    pub fn later(open: impl Fn() -> Result<Arc<App>, Failure> + Send + Sync + 'static) -> Self {
        Self {
            open: Arc::new(open),
            opened: OnceCell::new(),
        }
    }

    /// Opened already.
    pub fn now(app: Arc<App>) -> Self {
        let again = Arc::clone(&app);
        Self {
            open: Arc::new(move || Ok(Arc::clone(&again))),
            opened: OnceCell::new_with(Some(app)),
        }
    }

    pub(super) async fn app(&self) -> Result<&Arc<App>, Failure> {
        let open = Arc::clone(&self.open);
        self.opened
            .get_or_try_init(|| async move {
                match tokio::task::spawn_blocking(move || open()).await {
                    Ok(opened) => opened,
                    Err(error) => match error.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_) => Err(Failure::new(Code::Internal, "the program is ending")),
                    },
                }
            })
            .await
    }
}
