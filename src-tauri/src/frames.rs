//! Pictures of runs at `openspace-frame://localhost/ID?w=WIDTH`, for the main window.

use openspace_app::{Code, rpc::Rpc};
use tauri::{
    Manager as _, Runtime, UriSchemeContext, UriSchemeResponder,
    http::{Request, Response, StatusCode, header},
};

pub(crate) const SCHEME: &str = "openspace-frame";

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
pub(crate) fn answer<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let rpc = context.app_handle().try_state::<Rpc>();
    let Some(rpc) = rpc.filter(|_| context.webview_label() == super::window::MAIN) else {
        return responder.respond(empty(StatusCode::FORBIDDEN));
    };
    let rpc = rpc.inner().clone();
    let id = request.uri().path().trim_start_matches('/').to_owned();
    let width = request.uri().query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == "w")?.1.parse().ok()
    });
    tauri::async_runtime::spawn(async move {
        let answered = match rpc.frame(&id, width).await {
            Ok(picture) => Response::builder()
                .header(header::CONTENT_TYPE, picture.media_type)
                // A frame never changes.
                .header(
                    header::CACHE_CONTROL,
                    "private, max-age=31536000, immutable",
                )
                .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
                .body(picture.data.to_vec())
                .unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR)),
            Err(failure) if failure.code == Code::NotFound => empty(StatusCode::NOT_FOUND),
            Err(failure) => {
                tracing::warn!(%failure, "reading a picture for a window");
                empty(StatusCode::INTERNAL_SERVER_ERROR)
            }
        };
        responder.respond(answered);
    });
}

fn empty(status: StatusCode) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = status;
    response
}
