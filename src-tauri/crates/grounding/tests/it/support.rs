//! A machine that exists only in these tests.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use openspace_grounding::{
    Access, Action, Folders, ScreenApp, ShellCommand,
    policy::{Decision, Grants, Paths, Policy, PolicyInputs, Preset, Question},
};

/// Home folder of the person.
pub(crate) const HOME: &str = "/home/ana";
/// The workspace.
pub(crate) const WORK: &str = "/home/ana/work";
/// Our own data folder.
pub(crate) const DATA: &str = "/home/ana/.local/share/openspace";

/// A file system of names.
#[derive(Default)]
pub(crate) struct FakePaths {
    pub(crate) files: HashSet<PathBuf>,
    pub(crate) folders: HashSet<PathBuf>,
    pub(crate) links: HashMap<PathBuf, PathBuf>,
}

impl Paths for FakePaths {
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut resolved = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => {
                    resolved.pop();
                }
                part => resolved.push(part),
            }
            if let Some(target) = self.links.get(&resolved) {
                resolved.clone_from(target);
            }
        }
        resolved
    }

    fn exists(&self, path: &Path) -> bool {
        let resolved = self.resolve(path);
        self.files.contains(&resolved) || self.is_folder(&resolved) || self.links.contains_key(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains(path)
    }
}

/// The machine: a workspace with a few files, and links that lead astray.
pub(crate) fn paths() -> FakePaths {
    let path = |text: &str| PathBuf::from(text);
    FakePaths {
        files: [
            "old.txt",
            "notes.md",
            "build.sh",
            "data.csv",
            "src/main.rs",
            "bare/HEAD",
            "begun/config",
        ]
        .iter()
        .map(|name| path(WORK).join(name))
        .chain([
            path("/home/ana/letter.txt"),
            path("/etc/passwd"),
            path("/usr/bin/chromium"),
            path("/usr/bin/openspace"),
        ])
        .collect(),
        folders: [
            WORK,
            HOME,
            "/home/ana/work/src",
            "/home/ana/work/out",
            "/home/ana/docs",
            "/tmp",
            "/tmp/openspace-run",
        ]
        .iter()
        .map(|name| path(name))
        .collect(),
        links: [
            (path(WORK).join("keys"), path("/home/ana/.ssh")),
            (path(WORK).join("innocent"), path("/home/ana/.ssh/id_rsa")),
            (path(WORK).join("up"), path("/home/ana/docs")),
        ]
        .into(),
    }
}

pub(crate) fn folders() -> Arc<Folders> {
    Arc::new(Folders {
        workspace: WORK.into(),
        allowed: vec!["/home/ana/shared".into()],
        protected: vec![
            DATA.into(),
            "/home/ana/.config/openspace".into(),
            "/usr/bin/openspace".into(),
        ],
        scratch: "/tmp/openspace-run".into(),
    })
}

/// Inputs for a preset, on a machine with a sandbox.
pub(crate) fn inputs(preset: Preset) -> PolicyInputs {
    PolicyInputs {
        preset,
        sandbox: true,
        paths: Arc::new(paths()),
        ..PolicyInputs::new(folders(), HOME.into())
    }
}

pub(crate) fn policy(preset: Preset) -> Policy {
    Policy::new(inputs(preset))
}

/// `inputs` with these rules.
pub(crate) fn ruled(preset: Preset, rules: &[&str]) -> Policy {
    let rules = rules
        .iter()
        .map(|rule| rule.parse().expect("rule"))
        .collect();
    Policy::new(inputs(preset).with_request(None, rules))
}

/// What was decided, in one letter less than a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allow,
    Ask,
    Deny,
}

pub(crate) fn outcome(policy: &Policy, action: Action) -> Outcome {
    outcome_with(policy, action, &Grants::default())
}

pub(crate) fn outcome_with(policy: &Policy, action: Action, grants: &Grants) -> Outcome {
    match policy.decide(&[action], grants) {
        Decision::Allow => Outcome::Allow,
        Decision::Ask(_) => Outcome::Ask,
        Decision::Deny(_) => Outcome::Deny,
    }
}

pub(crate) fn question(policy: &Policy, actions: &[Action]) -> Question {
    match policy.decide(actions, &Grants::default()) {
        Decision::Ask(question) => *question,
        other => panic!("expected a question, got {other:?}"),
    }
}

pub(crate) fn command(line: &str) -> Action {
    Action::Command(ShellCommand {
        line: line.to_owned(),
        folder: WORK.into(),
        sandboxed: true,
        network: false,
    })
}

pub(crate) fn app(name: &str) -> ScreenApp {
    ScreenApp {
        name: name.to_owned(),
        title: "a title".to_owned(),
        terminal: false,
        own: false,
    }
}

pub(crate) fn screen(name: &str, access: Access) -> Action {
    Action::Screen {
        app: app(name),
        access,
    }
}
