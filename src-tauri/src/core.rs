//! The opened program behind the window.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use openspace_app::{
    App, Catalogue, Code, Environment, Failure, GuardSeat, InstanceKind, Language, Surface,
    become_subreaper, rpc::Rpc,
};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogKind};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// How long runs may take to end when the app quits; then their guard ends what is left.
const FAREWELL: Duration = Duration::from_secs(8);

/// Executing queued runs, until told otherwise.
pub(crate) struct Runner {
    cancel: CancellationToken,
    task: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

/// Lives as long as the app.
pub(crate) struct Kept {
    _runtime: tokio::runtime::Runtime,
}

impl Kept {
    pub(crate) fn new(runtime: tokio::runtime::Runtime) -> Self {
        Self { _runtime: runtime }
    }
}

/// Under which name a second start of the same data folder finds the first.
pub(crate) fn name_among_instances(data: &Path) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    // One build of the program always computes the same number, and other builds need not find this
    // one: the lock files of the store keep them apart.
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    format!("org.openspace.desktop.d{:016x}", hasher.finish())
}

/// Opens the store, claims runs from now on, and lets the windows call.
pub(crate) fn open(app: &AppHandle, environment: Environment) -> Result<(), Failure> {
    let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
    // The command line program lies beside this one and is what guards are started from.
    let program = std::env::current_exe()
        .map_err(internal)?
        .with_file_name(format!("openspace{}", std::env::consts::EXE_SUFFIX));
    let surface = Surface {
        kind: InstanceKind::Desktop,
        claims_runs: true,
        asks_on_terminal: false,
        program,
    };
    let opened = App::open(environment, surface, &[])?;
    // How long a start took is always told: it is what a slow one is judged by.
    let level = format!(
        "{},openspace_desktop::first_paint=info",
        opened.values().log.level
    );
    let level = EnvFilter::try_new(level)
        .map_err(|error| Failure::new(Code::Configuration, error.to_string()))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(level)
        .with_writer(std::io::stderr)
        .finish();
    // The only subscriber of this process.
    let _first = tracing::subscriber::set_global_default(log);
    if let Err(error) = become_subreaper() {
        tracing::warn!(%error, "orphaned processes of commands are found by their mark only");
    }
    let guards = Arc::new(GuardSeat::default());
    let cancel = CancellationToken::new();
    let serving = {
        let (opened, guards, cancel) = (Arc::clone(&opened), Arc::clone(&guards), cancel.clone());
        async move {
            if let Err(failure) = opened.serve_runs(guards, None, cancel).await {
                tracing::error!(%failure, hint = failure.hint, "queued runs are not executed");
            }
        }
    };
    app.manage(Runner {
        cancel,
        task: Mutex::new(Some(tokio::spawn(serving))),
    });
    app.manage(Rpc::new(opened, guards));
    Ok(())
}

/// Says why nothing can be opened, and ends.
pub(crate) fn cannot_start(app: &AppHandle, failure: &Failure) {
    super::log(failure);
    let hint = failure.hint.as_deref().unwrap_or_default();
    // The settings may be what is wrong, so the language is that of the system.
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(std::env::var_os)
        .unwrap_or_default();
    let texts = Catalogue::load(Language::of_locale(&locale.to_string_lossy()));
    let title = texts.map(|texts| texts.render("desktop.failed.title", &[]));
    let app = app.clone();
    app.clone()
        .dialog()
        .message(format!("{failure}\n\n{hint}"))
        .title(title.unwrap_or_else(|_| "OpenSpace".to_owned()))
        .kind(MessageDialogKind::Error)
        .show(move |_| app.exit(1));
}

/// Stops the runs of this process and waits until they have ended.
pub(crate) async fn farewell(app: &AppHandle) {
    let Some(runner) = app.try_state::<Runner>() else {
        return;
    };
    runner.cancel.cancel();
    let task = runner
        .task
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(task) = task
        && tokio::time::timeout(FAREWELL, task).await.is_err()
    {
        tracing::warn!("runs do not end; their guard ends what is left");
    }
}
