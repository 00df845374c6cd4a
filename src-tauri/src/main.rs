//! `openspace-desktop`: the process that executes queued runs while the person is at their desk.
//!
//! It claims what command lines, hosts and channels queue, with the person's screen and bus at hand.
//! The window is a part of its own and will live in this folder.

use std::{process::ExitCode, sync::Arc};

use openspace_app::{
    App, Code, Environment, Failure, GuardSeat, InstanceKind, Surface, become_subreaper,
};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tracing::error!(%failure, hint = failure.hint, "ended");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .finish();
    // The only subscriber of this process.
    let _first = tracing::subscriber::set_global_default(log);
    // The command line program lies beside this one and is what guards are started from.
    let program = std::env::current_exe()
        .map_err(internal)?
        .with_file_name("openspace");
    let surface = Surface {
        kind: InstanceKind::Desktop,
        claims_runs: true,
        asks_on_terminal: false,
        program,
    };
    let runtime = tokio::runtime::Runtime::new().map_err(internal)?;
    runtime.block_on(async {
        let app = App::open(Environment::of_this_process(), surface, &[])?;
        if let Err(error) = become_subreaper() {
            tracing::warn!(%error, "orphaned processes of commands are found by their mark only");
        }
        let cancel = CancellationToken::new();
        let quitting = cancel.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                quitting.cancel();
            }
        });
        app.serve_runs(Arc::new(GuardSeat::default()), None, cancel)
            .await
    })
}
