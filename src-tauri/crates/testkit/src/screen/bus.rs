//! A session bus of the test's own, with the accessibility bus.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::{START, first_line};
use crate::home::random_word;
use crate::spawn::{Spawned, quiet};
use crate::wait::wait_until;

/// Marks what the bus starts by itself, which leaves our process groups.
const BUS_VARIABLE: &str = "OPENSPACE_TEST_BUS";

/// A running `dbus-daemon` and the services it activated.
pub(super) struct SessionBus {
    daemon: Option<Spawned>,
    launcher: Option<Spawned>,
    address: String,
    word: String,
}

impl SessionBus {
    pub(super) fn start(mut environment: BTreeMap<String, String>, root: &Path) -> Result<Self> {
        let word = random_word();
        environment.insert(BUS_VARIABLE.to_owned(), word.clone());
        environment.remove("DBUS_SESSION_BUS_ADDRESS");
        environment.remove("NO_AT_BRIDGE");
        let mut command = quiet("dbus-daemon", &root.join("bus.log"))?;
        command
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped());
        let mut daemon = Spawned::start(command, &environment)?;
        let address = first_line(&mut daemon)?;
        ensure!(
            address.starts_with("unix:"),
            "`dbus-daemon` printed no address"
        );
        environment.insert("DBUS_SESSION_BUS_ADDRESS".to_owned(), address.clone());
        let mut bus = Self {
            daemon: Some(daemon),
            launcher: None,
            address,
            word,
        };
        bus.start_accessibility(&environment, root)?;
        Ok(bus)
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    fn start_accessibility(
        &mut self,
        environment: &BTreeMap<String, String>,
        root: &Path,
    ) -> Result<()> {
        let places = [
            "/usr/libexec/at-spi-bus-launcher",
            "/usr/lib/at-spi2-core/at-spi-bus-launcher",
            "/usr/lib/at-spi-bus-launcher",
        ];
        let program = places
            .into_iter()
            .find(|place| Path::new(place).exists())
            .context("no `at-spi-bus-launcher`; install at-spi2-core")?;
        let mut command = quiet(program, &root.join("accessibility.log"))?;
        command.arg("--launch-immediately");
        self.launcher = Some(Spawned::start(command, environment)?);
        let socket = environment
            .get("XDG_RUNTIME_DIR")
            .map(|folder| Path::new(folder).join("at-spi"));
        // The launcher puts its socket into the runtime folder when it can be asked.
        let up = wait_until(START, || {
            socket.as_deref().is_none_or(|folder| {
                fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
            })
        });
        ensure!(up, "the accessibility bus did not start");
        Ok(())
    }
}

impl Drop for SessionBus {
    fn drop(&mut self) {
        self.launcher.take();
        self.daemon.take();
        let wanted = format!("{BUS_VARIABLE}={}", self.word);
        for id in processes_with(&wanted) {
            if let Some(pid) = Pid::from_raw(id) {
                kill_process(pid, Signal::KILL).ok();
            }
        }
    }
}

fn processes_with(entry: &str) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .filter(|id| {
            fs::read(format!("/proc/{id}/environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|part| part == entry.as_bytes())
            })
        })
        .collect()
}
