//! Keys of providers with and without a keychain: D-24 of the cases, on a real bus.
//!
//! The Secret Service is GNOME Keyring where what counts is that it works, and one of our own where
//! it must hang, die, be locked or be counted.

mod bus;
mod kept;
mod passphrase;
mod sandbox;
mod service;
mod trouble;

use std::{fs, path::Path, sync::Arc};

use openspace_app::{App, Environment, InstanceKind, Surface};
use openspace_testkit::{
    cli::{Output, Program},
    model::{KEY, Script},
};
use serde_json::Value;

use crate::rig::Rig;
use bus::Bus;

/// A desktop session: a home, a bus, a model server that wants the right key.
struct Desk {
    bus: Bus,
    rig: Rig,
}

impl Desk {
    fn new(script: impl Into<Script>) -> Self {
        let rig = Rig::headless(script);
        let bus = Bus::start(&rig.home);
        Self { bus, rig }
    }

    /// The real program in this session, without a key in a variable.
    fn openspace(&self, arguments: &[&str]) -> Program {
        self.rig
            .openspace(arguments)
            .env("OPENSPACE_LLM_API_KEY", "")
            .env("DBUS_SESSION_BUS_ADDRESS", self.bus.address())
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.openspace(arguments).run().expect("the program runs")
    }

    /// The program in this process, as one that goes on after a call is given up.
    fn app(&self) -> Arc<App> {
        let mut environment: Environment = self.rig.environment().into_iter().collect();
        environment.remove("OPENSPACE_LLM_API_KEY");
        environment.insert("DBUS_SESSION_BUS_ADDRESS", self.bus.address());
        let surface = Surface {
            kind: InstanceKind::Cli,
            claims_runs: false,
            asks_on_terminal: false,
            program: env!("CARGO_BIN_EXE_openspace").into(),
            web_view: None,
        };
        App::open(environment, surface, &[]).expect("opened")
    }

    /// `openspace keys set PROVIDER --stdin`
    fn set(&self, provider: &str, key: &str) -> Output {
        self.openspace(&["keys", "set", provider, "--stdin"])
            .stdin(format!("{key}\n"))
            .run()
            .expect("the program runs")
    }

    /// The line of `openspace keys list --json` about a provider.
    fn listed(&self, provider: &str) -> Value {
        of_provider(&self.call(&["keys", "list", "--json"]), provider)
    }

    fn file(&self) -> std::path::PathBuf {
        self.rig.home.data().join("secrets")
    }

    /// No key is anywhere below the home: not in the file, the database, a log or the keychain's own.
    fn assert_nothing_plain(&self, outputs: &[&Output]) {
        assert_nothing_plain(self.rig.home.root(), &[KEY]);
        for output in outputs {
            assert!(!said(output).contains(KEY), "{output:?}");
        }
    }

    fn finish(self) {
        drop(self.bus);
        self.rig.finish();
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

fn of_provider(output: &Output, provider: &str) -> Value {
    output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["provider"] == provider)
        .unwrap_or_else(|| panic!("nothing about {provider}: {output:?}"))
}

/// Fails with the file that holds one of these.
fn assert_nothing_plain(folder: &Path, secrets: &[&str]) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        if metadata.is_dir() {
            assert_nothing_plain(&path, secrets);
        } else if metadata.is_file() {
            let bytes = fs::read(&path).expect("readable");
            for secret in secrets {
                let found = bytes
                    .windows(secret.len())
                    .any(|part| part == secret.as_bytes());
                assert!(!found, "`{secret}` is in {}", path.display());
            }
        }
    }
}

/// It ended with this code, says all of this, and has not panicked.
fn assert_says(output: &Output, code: i32, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.code, Some(code), "{output:?}");
    assert!(!said.contains("panicked"), "{output:?}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in {output:?}");
    }
}
