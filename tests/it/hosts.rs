//! `openspace hosts`: agent programs find us, and nothing of theirs is lost.

mod commands;
mod lent;
mod named;
mod real;
mod skills;

use std::{
    fs,
    path::{Path, PathBuf},
};

use openspace_testkit::{
    cli::{Output, Program},
    home::TestHome,
    leak::LeakCheck,
};
use serde_json::Value;

/// A home with agent programs' files in it, and the real program.
pub(crate) struct Desk {
    pub(crate) home: TestHome,
    leaks: LeakCheck,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let home = TestHome::new().expect("a temporary home");
        let leaks = LeakCheck::start(&home);
        Self { home, leaks }
    }

    /// A file below the home folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.home().join(name)
    }

    /// Writes a file below the home folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// `openspace hosts` with these arguments.
    pub(crate) fn hosts(&self, arguments: &[&str]) -> Program {
        self.with(Path::new(env!("CARGO_BIN_EXE_openspace")), arguments)
    }

    /// The same with the program in another place.
    pub(crate) fn with(&self, program: &Path, arguments: &[&str]) -> Program {
        Program::new(program)
            .arg("hosts")
            .args(arguments.iter().copied())
            .environment(self.home.environment())
            .folder(self.home.workspace())
            .limit(crate::rig::LIMIT)
    }

    /// Runs it to its end, which must be this exit code.
    pub(crate) fn run(&self, arguments: &[&str], code: i32) -> Output {
        let output = self.hosts(arguments).run().expect("the program runs");
        assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
        output
    }

    /// The state of one host, as `list --json` tells it.
    pub(crate) fn state(&self, host: &str) -> String {
        let output = self.run(&["list", "--all", "--json"], 0);
        let told = lines(&output.stdout);
        let found = told.iter().find(|line| line["host"] == host);
        found.expect(host)["state"]
            .as_str()
            .expect("a state")
            .to_owned()
    }

    /// What a golden file says in this home.
    pub(crate) fn golden(&self, text: &str) -> String {
        text.replace("@DATA@", &self.home.data().display().to_string())
    }

    /// A runner stays for the next task; a test is in a hurry.
    pub(crate) fn end_runners(&self) {
        for process in self.leaks.processes() {
            if process.command.ends_with(" runner") {
                let id = rustix::process::Pid::from_raw(process.id.cast_signed());
                let id = id.expect("a process id");
                let _gone = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            }
        }
    }

    pub(crate) fn finish(self) {
        self.leaks.assert_no_leak();
    }
}

/// What `--json` told.
pub(crate) fn lines(output: &str) -> Vec<Value> {
    output
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect()
}

/// The copies of a file that were kept, the oldest first.
pub(crate) fn backups(file: &Path) -> Vec<PathBuf> {
    let name = file
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let folder = fs::read_dir(file.parent().expect("a folder")).expect("a folder");
    let mut found: Vec<_> = folder
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path != file
                && path
                    .to_string_lossy()
                    .contains(&format!("{name}.openspace-"))
        })
        .collect();
    // The ending would put the second copy of a second, `…-2.bak`, before the first.
    found.sort_by_key(|path| path.with_extension(""));
    found
}
