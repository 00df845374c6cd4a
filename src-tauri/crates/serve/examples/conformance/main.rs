//! Our MCP server with the fixtures that the official conformance suite asks for, behind our own
//! routes and guard but for the token, which the suite cannot send.
//!
//! `cargo run -p openspace-serve --example conformance --features conformance -- PORT [--stateless]`
//! with `OPENSPACE_HOME` set to an empty folder. No part of any release.

mod fixture;
mod inputs;
mod jobs;
mod words;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use openspace_app::{App, Environment, InstanceKind, Surface};
use openspace_serve::mcp::{Opening, Server, conformance};
use tokio_util::sync::CancellationToken;

use fixture::Fixture;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments
        .next()
        .and_then(|port| port.parse().ok())
        .context("give a port")?;
    let stateless = arguments.next().as_deref() == Some("--stateless");
    let surface = Surface {
        kind: InstanceKind::Mcp,
        claims_runs: false,
        asks_on_terminal: false,
        program: std::env::current_exe()?,
        web_view: None,
    };
    let app = App::open(Environment::of_this_process(), surface, &[])?;
    let server = Server::new(Opening::now(Arc::clone(&app)));
    let fixture = Fixture::new(server.clone())?;
    let cancel = CancellationToken::new();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listening =
        conformance::listen(&server, fixture, app, address, stateless, cancel.clone()).await?;
    tokio::signal::ctrl_c().await?;
    cancel.cancel();
    listening.ended().await;
    Ok(())
}
