//! The desktop session is found, not assumed.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::net::UnixListener, path::Path};

use openspace_config::{DesktopSession, Environment, FoundIn, System};

/// A machine whose processes and sockets are files in a folder.
struct Machine {
    folder: tempfile::TempDir,
    system: System,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name);
        let own = fs::metadata(folder.path()).expect("owner");
        let system = System {
            uid: Some(std::os::unix::fs::MetadataExt::uid(&own)),
            passwd: at("passwd"),
            processes: at("proc"),
            runtimes: at("run"),
            x_sockets: at("x"),
        };
        for place in [&system.processes, &system.x_sockets] {
            fs::create_dir(place).expect("place");
        }
        Self { folder, system }
    }

    fn process(&self, pid: u32, name: &str, environment: &[(&str, &str)]) {
        let folder = self.system.processes.join(pid.to_string());
        fs::create_dir(&folder).expect("process");
        let pairs: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{name}={value}\0"))
            .collect();
        fs::write(folder.join("environ"), pairs.concat()).expect("environ");
        fs::write(folder.join("comm"), format!("{name}\n")).expect("comm");
    }

    fn x_server(&self, number: u32) {
        let socket = self.system.x_sockets.join(format!("X{number}"));
        drop(UnixListener::bind(socket).expect("socket"));
    }

    /// The runtime folder of the login, made.
    fn runtime(&self) -> std::path::PathBuf {
        let uid = self.system.uid.expect("uid");
        let folder = self.system.runtimes.join(uid.to_string());
        fs::create_dir_all(&folder).expect("runtime");
        folder
    }

    fn find(&self, environment: &[(&str, &str)]) -> DesktopSession {
        let mut environment: Environment = environment.iter().copied().collect();
        environment.insert("HOME", self.folder.path());
        DesktopSession::find_on(&environment, &self.system)
    }
}

/// Without any variable, the desktop's own processes tell display, cookie and bus.
#[test]
fn an_empty_environment_finds_the_desktop() {
    let machine = Machine::new();
    machine.x_server(1);
    machine.process(20, "cron", &[("HOME", "/root")]);
    machine.process(
        30,
        "gnome-shell",
        &[
            ("DISPLAY", ":1"),
            ("XAUTHORITY", "/run/cookies"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
            ("XDG_CURRENT_DESKTOP", "GNOME"),
        ],
    );
    let session = machine.find(&[]);
    assert_eq!(session.display(), Some(":1"));
    assert_eq!(session.xauthority(), Some(Path::new("/run/cookies")));
    assert_eq!(session.bus(), Some("unix:path=/run/bus"));
    let (_, display) = session.found().next().expect("display");
    assert_eq!(
        display.origin,
        FoundIn::Process {
            pid: 30,
            name: "gnome-shell".to_owned()
        }
    );
    let complete = session.complete(&Environment::default());
    assert_eq!(complete.text("DISPLAY"), Some(":1"));
}

/// A private screen that a run started is never taken for the person's, nor a dead or remote one.
#[test]
fn only_a_live_screen_of_the_person_counts() {
    let machine = Machine::new();
    machine.x_server(7);
    machine.process(
        10,
        "xterm",
        &[("DISPLAY", ":7"), ("OPENSPACE_RUN_ID", "abc")],
    );
    machine.process(
        11,
        "old",
        &[("DISPLAY", ":3"), ("XDG_CURRENT_DESKTOP", "KDE")],
    );
    machine.process(12, "ssh", &[("DISPLAY", "localhost:10.0")]);
    machine.x_server(8);
    let session = machine.find(&[]);
    assert_eq!(session.display(), None);
    assert_eq!(
        session.undecided(),
        [":7", ":8"],
        "two servers and nobody to say whose"
    );
    assert!(!session.has_screen());
}

/// The display that is named is kept, and nothing is borrowed from another session.
#[test]
fn sessions_are_not_mixed() {
    let machine = Machine::new();
    machine.x_server(1);
    machine.x_server(2);
    machine.process(
        30,
        "plasmashell",
        &[
            ("DISPLAY", ":1"),
            ("XAUTHORITY", "/one"),
            ("XDG_CURRENT_DESKTOP", "KDE"),
        ],
    );
    machine.process(31, "openbox", &[("DISPLAY", ":2"), ("XAUTHORITY", "/two")]);
    let session = machine.find(&[("DISPLAY", ":2")]);
    assert_eq!(session.display(), Some(":2"));
    assert_eq!(session.xauthority(), Some(Path::new("/two")));
    let session = machine.find(&[("DISPLAY", ":9")]);
    assert_eq!(
        (session.display(), session.xauthority()),
        (Some(":9"), None)
    );
}

/// A real desktop wins over a display with more programs on it.
#[test]
fn a_desktop_wins_over_a_crowd() {
    let machine = Machine::new();
    machine.x_server(0);
    machine.x_server(5);
    for pid in 40..45 {
        machine.process(pid, "test", &[("DISPLAY", ":5")]);
    }
    machine.process(
        50,
        "xfce4-panel",
        &[("DISPLAY", ":0.0"), ("DESKTOP_SESSION", "xfce")],
    );
    assert_eq!(machine.find(&[]).display(), Some(":0.0"));
}

/// Where no process tells, a single socket, the bus in the runtime folder and the usual cookie do.
#[test]
fn sockets_tell_when_processes_do_not() {
    let machine = Machine::new();
    machine.x_server(4);
    let runtime = machine.runtime();
    drop(UnixListener::bind(runtime.join("bus")).expect("bus"));
    fs::write(machine.folder.path().join(".Xauthority"), "").expect("cookies");
    let session = machine.find(&[]);
    assert_eq!(session.display(), Some(":4"));
    assert_eq!(
        session.bus(),
        Some(format!("unix:path={}/bus", runtime.display()).as_str())
    );
    assert_eq!(
        session.xauthority(),
        Some(machine.folder.path().join(".Xauthority").as_path())
    );

    drop(UnixListener::bind(runtime.join("wayland-0")).expect("wayland"));
    assert_eq!(machine.find(&[]).wayland_display(), Some("wayland-0"));
}

/// A machine without a desktop has none, and that is no error.
#[test]
fn no_desktop_is_an_answer() {
    let machine = Machine::new();
    let session = machine.find(&[]);
    assert_eq!(session, DesktopSession::default());
}
