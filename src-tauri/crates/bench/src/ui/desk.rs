//! A home and a screen for the app, as built in release.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, ensure};
use openspace_store::Store;
use openspace_testkit::{
    LeakCheck, Options, Program, TestHome, TestScreen,
    cli::{Output, Running},
};
use rustix::process::Signal;
use serde_json::json;

/// Longest wait for something that should come soon.
pub(crate) const SOON: Duration = Duration::from_secs(60);
/// What the app says when something can be seen.
const PAINTED: &str = "first paint";

/// Dropped in order: whatever still runs, the screen, the home.
pub(crate) struct Desk {
    pub(crate) leaks: LeakCheck,
    pub(crate) screen: TestScreen,
    pub(crate) home: TestHome,
    programs: PathBuf,
}

impl Desk {
    /// Of a person who has seen the first steps: the app opens on their tasks.
    pub(crate) fn new() -> Result<Self> {
        let home = TestHome::new()?;
        let screen = TestScreen::start(Options {
            session_bus: true,
            mark: Some(home.mark().clone()),
            ..Options::default()
        })?;
        let own = std::env::current_exe()?;
        let desk = Self {
            leaks: LeakCheck::start(&home),
            screen,
            home,
            programs: own.parent().context("the folder of programs")?.to_owned(),
        };
        let over = json!({ "step": "safety", "done": [], "over": true, "demo": null });
        desk.store()?
            .call_blocking(|db| db.ui_state().set("welcome", Some(&over)))?;
        Ok(desk)
    }

    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::open(&self.home.data())?)
    }

    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        self.screen.environment_in(&self.home)
    }

    /// A program that was built beside this one.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// `openspace` to its end.
    pub(crate) fn openspace(
        &self,
        arguments: &[&str],
        environment: BTreeMap<String, String>,
    ) -> Result<Output> {
        let output = Program::new(self.program("openspace"))
            .args(arguments.iter().copied())
            .environment(environment)
            .folder(self.home.workspace())
            .run()?;
        ensure!(
            output.code == Some(0),
            "openspace {arguments:?}: {output:?}"
        );
        Ok(output)
    }

    /// The app, once it has painted.
    pub(crate) fn painted_app(&self) -> Result<Running> {
        let mut app = Program::new(self.program("openspace-desktop"))
            .environment(self.environment())
            .folder(self.home.workspace())
            .start()?;
        app.wait_for(PAINTED, SOON)?;
        Ok(app)
    }
}

/// Ends the app as a service manager or `kill` does.
pub(crate) fn end(mut app: Running) -> Result<()> {
    app.signal_alone(Signal::TERM);
    let output = app.wait(SOON)?;
    ensure!(output.code == Some(0), "the app: {output:?}");
    Ok(())
}
