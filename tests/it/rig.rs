//! A home, a screen, a model and the real program, wired together.

use std::{collections::BTreeMap, time::Duration};

use openspace_testkit::{
    cli::{Output, Program},
    home::TestHome,
    leak::{LeakCheck, Process},
    model::{ModelServer, Rules, Script},
    screen::{Options, TestScreen},
};

/// Longest a single command of a test may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);
/// The model the server plays unless a test names another.
pub(crate) const MODEL: &str = "anthropic/claude-sonnet-4-6";

/// Everything a run of the real program needs. Dropped in order: the server, the screen, the home.
pub(crate) struct Rig {
    pub(crate) server: ModelServer,
    pub(crate) screen: Option<TestScreen>,
    pub(crate) home: TestHome,
    leaks: LeakCheck,
}

impl Rig {
    /// A rig without a screen.
    pub(crate) fn headless(script: impl Into<Script>) -> Self {
        Self::headless_with(Rules::default(), script)
    }

    /// The same, with another service behind the address.
    pub(crate) fn headless_with(rules: Rules, script: impl Into<Script>) -> Self {
        let home = TestHome::new().expect("a temporary home");
        let leaks = LeakCheck::start(&home);
        let server = ModelServer::start_with(script, rules).expect("a model server");
        Self {
            server,
            screen: None,
            home,
            leaks,
        }
    }

    /// A rig with a screen of its own.
    pub(crate) fn with_screen(options: Options, script: impl Into<Script>) -> Self {
        Self::with_screen_and(options, Rules::default(), script)
    }

    /// The same, with another service behind the address.
    pub(crate) fn with_screen_and(
        options: Options,
        rules: Rules,
        script: impl Into<Script>,
    ) -> Self {
        let mut rig = Self::headless_with(rules, script);
        let mark = Some(rig.home.mark().clone());
        rig.screen = Some(TestScreen::start(Options { mark, ..options }).expect("a screen"));
        rig
    }

    /// The screen.
    pub(crate) fn screen(&self) -> &TestScreen {
        self.screen.as_ref().expect("this rig has a screen")
    }

    /// The processes the test has left running so far.
    pub(crate) fn processes(&self) -> Vec<Process> {
        self.leaks.processes()
    }

    /// Variables of the program: the home's, the screen's, the model's.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let mut environment = match &self.screen {
            Some(screen) => screen.environment_in(&self.home),
            None => self.home.environment(),
        };
        environment.insert("OPENSPACE_MODEL".into(), MODEL.into());
        environment.insert("OPENSPACE_LLM_API_BASE".into(), self.server.url());
        environment.insert("OPENSPACE_LLM_API_KEY".into(), self.server.key());
        environment
    }

    /// The real program with these arguments, not started yet.
    pub(crate) fn openspace(&self, arguments: &[&str]) -> Program {
        Program::new(env!("CARGO_BIN_EXE_openspace"))
            .args(arguments.iter().copied())
            .environment(self.environment())
            .folder(self.home.workspace())
            .limit(LIMIT)
    }

    /// `openspace run` to its end, without a terminal.
    pub(crate) fn run(&self, task: &str, arguments: &[&str]) -> Output {
        let all: Vec<&str> = ["run", task]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.openspace(&all).run().expect("the program runs")
    }

    /// The model saw no wrong request, and no process is left.
    pub(crate) fn finish(self) {
        self.server.assert_clean();
        drop(self.screen);
        self.leaks.assert_no_leak();
    }
}
