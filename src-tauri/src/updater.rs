//! Updates of released packages. Only the release's configuration names where they come from; a build
//! of one's own has no updater.

use openspace_app::desk::Ask;
use tauri::AppHandle;
use tauri_plugin_updater::{Update, UpdaterExt as _};

/// Whether this build can be updated: its configuration has a key that signatures are checked with.
pub(crate) fn is_there(app: &AppHandle) -> bool {
    let updater = app.config().plugins.0.get("updater");
    let key = updater.and_then(|updater| updater.get("pubkey")?.as_str());
    key.is_some_and(|key| !key.is_empty())
}

/// Makes updates possible where the configuration allows them.
pub(crate) fn prepare(app: &AppHandle) {
    if is_there(app)
        && let Err(error) = app.plugin(tauri_plugin_updater::Builder::new().build())
    {
        tracing::warn!(%error, "there are no updates");
    }
}

/// Looks for an update because a person asked, and asks before it is installed.
pub(crate) fn look(app: &AppHandle) {
    let (app, texts) = (app.clone(), super::desk(app).map(|desk| desk.texts()));
    tauri::async_runtime::spawn(async move {
        let Some(texts) = texts else { return };
        let found = match app.updater() {
            Ok(updater) => updater.check().await,
            Err(error) => Err(error),
        };
        let ask = match &found {
            Ok(Some(update)) => Ask::install(&texts, &update.version),
            Ok(None) => Ask::newest(&texts, &app.package_info().version.to_string()),
            Err(error) => Ask::no_update(&texts, &error.to_string()),
        };
        let asked = app.clone();
        super::face::ask(&app, ask, move |installs| {
            if let (true, Ok(Some(update))) = (installs, found) {
                tauri::async_runtime::spawn(install(asked, update));
            }
        });
    });
}

async fn install(app: AppHandle, update: Update) {
    if let Err(error) = update.download_and_install(|_, _| {}, || {}).await {
        return tracing::error!(%error, "installing an update");
    }
    if let Some(desk) = super::desk(&app) {
        desk.end(move |_| app.restart());
    }
}
