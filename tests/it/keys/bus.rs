//! A session bus of one test, on which nothing is started by itself.

use std::{fs, time::Duration};

use openspace_testkit::{Program, TestHome, cli::Running, wait_until};

const LIMIT: Duration = Duration::from_secs(20);

/// What keyrings are unlocked with.
pub(super) const PASSWORD: &str = "a login password";

/// A `dbus-daemon`, ended when dropped.
pub(super) struct Bus {
    address: String,
    _daemon: Running,
}

impl Bus {
    pub(super) fn start(home: &TestHome) -> Self {
        let socket = home.runtime().join("bus");
        let configuration = home.root().join("bus.conf");
        // Without folders of services nothing is activated: what is not started is not there.
        let text = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\
             <busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy>\
             </busconfig>",
            socket.display()
        );
        fs::write(&configuration, text).expect("write");
        let mut daemon = Program::new("dbus-daemon")
            .args(["--nofork", "--print-address=1"])
            .arg(format!("--config-file={}", configuration.display()))
            .environment(home.environment())
            .start()
            .expect("dbus-daemon is installed");
        let address = daemon
            .wait_for_line(LIMIT, |line| line.starts_with("unix:"))
            .expect("an address");
        Self {
            address,
            _daemon: daemon,
        }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Starts GNOME Keyring on this bus, unlocked as by a login, and waits until it is there.
    pub(super) fn gnome_keyring(&self, home: &TestHome) -> Running {
        let daemon = Program::new("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets"])
            .environment(home.environment())
            .env("DBUS_SESSION_BUS_ADDRESS", self.address())
            .stdin(PASSWORD)
            .start()
            .expect("gnome-keyring is installed");
        assert!(
            wait_until(LIMIT, || self.has_owner(home)),
            "a Secret Service comes up"
        );
        daemon
    }

    fn has_owner(&self, home: &TestHome) -> bool {
        let asked = Program::new("dbus-send")
            .args(["--session", "--print-reply", "--dest=org.freedesktop.DBus"])
            .args(["/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner"])
            .arg("string:org.freedesktop.secrets")
            .environment(home.environment())
            .env("DBUS_SESSION_BUS_ADDRESS", self.address())
            .run();
        asked.is_ok_and(|reply| reply.stdout.contains("boolean true"))
    }
}
