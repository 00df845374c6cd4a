//! An app in a home of its own, for tests.

use std::{path::Path, sync::Arc};

use openspace_app::{App, Environment, InstanceKind, Surface};

/// An app that executes runs.
pub(crate) fn open(folder: &Path) -> Arc<App> {
    let home = folder.display().to_string();
    let environment: Environment = [("HOME", home.clone()), ("OPENSPACE_HOME", home)]
        .into_iter()
        .collect();
    let surface = Surface {
        kind: InstanceKind::Desktop,
        claims_runs: true,
        asks_on_terminal: false,
        program: folder.join("openspace"),
        web_view: None,
    };
    App::open(environment, surface, &[]).expect("it opens")
}
