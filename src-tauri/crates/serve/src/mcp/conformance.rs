//! Serving another handler behind our routes, so that the official suite can test the protocol with
//! fixtures that the product does not have. No release is built with it.

use std::{net::SocketAddr, sync::Arc};

use openspace_app::App;
use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

use super::{Server, http::router};
use crate::{
    Error, Listening,
    guard::Guard,
    http::{answer, bind},
};

/// As [`super::listen`] without a token, which the suite cannot send, and with `handler` in place of
/// the server at `/mcp`.
pub async fn listen<H: ServerHandler + Clone>(
    server: &Server,
    handler: H,
    app: Arc<App>,
    address: SocketAddr,
    stateless: bool,
    cancel: CancellationToken,
) -> Result<Listening, Error> {
    let (listener, address) = bind(address).await?;
    let router = router(server, move || handler.clone(), stateless, &cancel);
    let guard = Guard::of_agents(address, None, app);
    Ok(answer(listener, address, router, guard, cancel))
}
