//! The processes other commands start.

use std::sync::Arc;

use openspace_app::{
    App, Code, Environment, Failure, GuardSeat, IDLE, InstanceKind, guard as app_guard,
};
use tokio_util::sync::CancellationToken;

use super::surface;
use crate::{exit::Exit, logging, signals::EndRequests};

/// Cleans up after the runner on the other end of the pipe.
pub(crate) fn guard() -> Result<Exit, Failure> {
    app_guard::leave_session();
    app_guard::run(std::io::stdin().lock()).map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("reading what the runner tells: {error}"),
        )
    })?;
    Ok(Exit::Done)
}

/// Executes queued runs until there have been none for a while.
pub(crate) async fn runner(environment: Environment) -> Result<Exit, Failure> {
    let app = App::open(
        environment,
        surface(InstanceKind::Runner, true, false)?,
        &[],
    )?;
    logging::to_file(&app.values().log.level, &app.paths.data, "runner")?;
    super::adopt_orphans();
    let cancel = CancellationToken::new();
    let mut requests = EndRequests::listen()
        .map_err(|error| Failure::new(Code::Internal, format!("no signals: {error}")))?;
    let stopping = cancel.clone();
    tokio::spawn(async move {
        requests.next().await;
        stopping.cancel();
    });
    app.serve_runs(Arc::new(GuardSeat::default()), Some(IDLE), cancel)
        .await;
    Ok(Exit::Done)
}
