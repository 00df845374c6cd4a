//! Updates of released packages. Only the release's configuration names where they come from; a build
//! of one's own has no updater.

use openspace_app::rpc::Rpc;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons};
use tauri_plugin_updater::UpdaterExt as _;

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
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Some(texts) = app.try_state::<Rpc>().map(|rpc| super::pulse::texts(&rpc)) else {
            return;
        };
        let title = texts.render("desktop.update.title", &[]);
        let found = match app.updater() {
            Ok(updater) => updater.check().await,
            Err(error) => Err(error),
        };
        let update = match found {
            Ok(Some(update)) => update,
            Ok(None) => {
                let version = app.package_info().version.to_string();
                let text = texts.render("desktop.update.none", &[("version", &version)]);
                return app.dialog().message(text).title(title).show(|_| {});
            }
            Err(error) => {
                let reason = error.to_string();
                let text = texts.render("desktop.update.failed", &[("reason", &reason)]);
                return app.dialog().message(text).title(title).show(|_| {});
            }
        };
        let text = texts.render("desktop.update.found", &[("version", &update.version)]);
        let asked = app.clone();
        app.dialog()
            .message(text)
            .title(title)
            .buttons(MessageDialogButtons::OkCancelCustom(
                texts.render("desktop.update.install", &[]),
                texts.render("desktop.update.later", &[]),
            ))
            .show(move |installs| {
                if installs {
                    install(&asked, update);
                }
            });
    });
}

fn install(app: &AppHandle, update: tauri_plugin_updater::Update) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = update.download_and_install(|_, _| {}, || {}).await {
            tracing::error!(%error, "installing an update");
            return;
        }
        super::quit::and_then(&app, |app| app.restart());
    });
}
