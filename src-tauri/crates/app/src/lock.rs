//! Whether the person's session is locked, as logind knows it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// How often logind is asked.
#[cfg(target_os = "linux")]
const LOOK: std::time::Duration = std::time::Duration::from_secs(1);

/// Asks logind (`org.freedesktop.login1.Session`, property `LockedHint`) until it is dropped. Where
/// there is no logind, the session counts as unlocked: then only the display itself can tell.
pub(crate) struct LockHint {
    locked: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl LockHint {
    /// Starts asking on the bus at `address`, or on the system's.
    pub(crate) fn watch(address: Option<String>) -> Self {
        let (locked, ended) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (told, stop) = (Arc::clone(&locked), Arc::clone(&ended));
        let ask = move || {
            if let Err(error) = follow(address.as_deref(), &told, &stop) {
                tracing::debug!(%error, "logind does not tell whether the session is locked");
            }
        };
        let thread = std::thread::Builder::new().name("lock-hint".to_owned());
        if let Err(error) = thread.spawn(ask) {
            tracing::warn!(%error, "no thread to ask whether the session is locked");
        }
        Self { locked, ended }
    }

    /// It was locked when logind was asked last.
    pub(crate) fn is_locked(&self) -> bool {
        self.locked.load(Ordering::SeqCst)
    }
}

impl Drop for LockHint {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

#[cfg(target_os = "linux")]
fn follow(address: Option<&str>, locked: &AtomicBool, ended: &AtomicBool) -> zbus::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let bus = match address {
            Some(address) => zbus::connection::Builder::address(address),
            None => zbus::connection::Builder::system(),
        };
        let bus = bus.build().await?;
        while !ended.load(Ordering::SeqCst) {
            let reply = bus
                .call_method(
                    Some("org.freedesktop.login1"),
                    // The session of whoever asks, or of this user where the asker has none.
                    "/org/freedesktop/login1/session/auto",
                    Some("org.freedesktop.DBus.Properties"),
                    "Get",
                    &("org.freedesktop.login1.Session", "LockedHint"),
                )
                .await?;
            let hint: zbus::OwnedVariant = reply.body().deserialize()?;
            locked.store(bool::try_from(hint).unwrap_or(false), Ordering::SeqCst);
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    })
}

/// macOS and Windows: not yet.
#[cfg(not(target_os = "linux"))]
fn follow(_: Option<&str>, _: &AtomicBool, _: &AtomicBool) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(
        clippy::expect_used,
        reason = "a test's helpers may fail the test as the test itself may"
    )]

    use std::{
        io::{BufRead as _, BufReader, Write as _},
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    use super::*;

    /// A logind that says what it is told on standard input.
    const LOGIND: &str = r#"
import sys, threading
from gi.repository import Gio, GLib
locked = False
XML = """<node><interface name="org.freedesktop.login1.Session">
<property name="LockedHint" type="b" access="read"/></interface></node>"""
def get(*_): return GLib.Variant("b", locked)
def own(bus, _):
    info = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
    bus.register_object("/org/freedesktop/login1/session/auto", info, None, get, None)
def acquired(*_): print("ready", flush=True)
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
own(bus, None)
Gio.bus_own_name_on_connection(bus, "org.freedesktop.login1", 0, acquired, None)
def listen():
    global locked
    for line in sys.stdin:
        locked = line.strip() == "lock"
    GLib.idle_add(loop.quit)
loop = GLib.MainLoop()
threading.Thread(target=listen, daemon=True).start()
loop.run()
"#;

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _gone = self.0.kill();
            let _reaped = self.0.wait();
        }
    }

    fn first_line(child: &mut Ended) -> String {
        let mut line = String::new();
        let output = child.0.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    fn becomes(hint: &LockHint, locked: bool) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if hint.is_locked() == locked {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Locking and unlocking is heard, over a real bus.
    #[test]
    fn a_lock_is_heard() {
        let bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon");
        let mut bus = Ended(bus);
        let address = first_line(&mut bus);
        let logind = Command::new("/usr/bin/python3")
            .args(["-c", LOGIND, &address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut logind = Ended(logind);
        assert_eq!(first_line(&mut logind), "ready");
        let hint = LockHint::watch(Some(address));
        let mut say = |word: &str| {
            let input = logind.0.stdin.as_mut().expect("piped");
            writeln!(input, "{word}").expect("heard");
        };
        say("lock");
        assert!(becomes(&hint, true), "locked");
        say("unlock");
        assert!(becomes(&hint, false), "unlocked");
    }

    /// Without logind the session counts as unlocked.
    #[test]
    fn no_bus_is_no_lock() {
        let hint = LockHint::watch(Some("unix:path=/nonexistent".to_owned()));
        assert!(!hint.is_locked());
    }
}
