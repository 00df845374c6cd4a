//! Pictures of runs at `openspace-frame://localhost/ID?w=WIDTH`, for the main window.

use openspace_app::{Code, desk};
use tauri::{
    UriSchemeContext, UriSchemeResponder, Wry,
    http::{Request, Response, StatusCode, header},
};

pub(crate) const SCHEME: &str = "openspace-frame";

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
pub(crate) fn answer(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let desk = super::desk(context.app_handle());
    let Some(desk) = desk.filter(|_| context.webview_label() == desk::MAIN) else {
        return responder.respond(empty(StatusCode::FORBIDDEN));
    };
    let id = request.uri().path().trim_start_matches('/').to_owned();
    let width = request.uri().query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == "w")?.1.parse().ok()
    });
    tauri::async_runtime::spawn(async move {
        // A frame never changes.
        let forever = "private, max-age=31536000, immutable";
        responder.respond(match desk.rpc().frame(&id, width).await {
            Ok(picture) => Response::builder()
                .header(header::CONTENT_TYPE, picture.media_type)
                .header(header::CACHE_CONTROL, forever)
                .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
                .body(picture.data.to_vec())
                .unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR)),
            Err(failure) if failure.code == Code::NotFound => empty(StatusCode::NOT_FOUND),
            Err(failure) => {
                tracing::warn!(%failure, "reading a picture for a window");
                empty(StatusCode::INTERNAL_SERVER_ERROR)
            }
        });
    });
}

fn empty(status: StatusCode) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = status;
    response
}
