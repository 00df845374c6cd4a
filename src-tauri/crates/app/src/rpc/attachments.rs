//! Pictures that come from a page as bytes: pasted, or dropped where no path is told.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Call, Nothing, payload};
use crate::{Code, Failure, failure::Result};

payload! {
    /// Keeps a picture, to be attached to a task.
    pub struct AttachmentAddRequest {
        /// What to call it; its ending follows from the bytes.
        pub name: String,
        /// The bytes of a PNG or JPEG, in base64.
        pub data: String,
    }

    /// A kept picture.
    pub struct AttachmentAdded {
        /// Where it lies, to be given along with a task.
        pub path: String,
    }

    /// Removes a kept picture.
    pub struct AttachmentRemoveRequest {
        /// Where it lies.
        pub path: String,
    }
}

impl Call<'_> {
    pub(super) async fn attachment_add(
        &self,
        request: AttachmentAddRequest,
    ) -> Result<AttachmentAdded> {
        self.app.refuse_runs("attach pictures")?;
        let data = STANDARD.decode(&request.data).map_err(|error| {
            Failure::new(
                Code::InvalidRequest,
                format!("the picture is not base64: {error}"),
            )
        })?;
        let path = self.app.keep_picture(&request.name, data).await?;
        Ok(AttachmentAdded {
            path: path.display().to_string(),
        })
    }

    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn attachment_remove(
        &self,
        request: AttachmentRemoveRequest,
    ) -> Result<Nothing> {
        self.app.refuse_runs("remove pictures")?;
        self.app.discard_picture(Path::new(&request.path))?;
        Ok(Nothing {})
    }
}
