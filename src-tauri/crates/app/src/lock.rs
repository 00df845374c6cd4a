//! Whether the person's session is locked, as logind knows it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// How often logind is asked.
#[cfg(target_os = "linux")]
const LOOK: Duration = Duration::from_secs(1);
/// How long it may take to answer, and after how long one that did not is tried again.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks logind (`org.freedesktop.login1.Session`, property `LockedHint`) until it is dropped. Where
/// there is no logind, or as long as it does not answer, the session counts as unlocked: then only the
/// display itself can tell.
pub(crate) struct LockHint {
    locked: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl LockHint {
    /// Starts asking on the bus at `address`, or on the system's.
    pub(crate) fn watch(address: Option<String>) -> Self {
        let (locked, ended) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (told, stop) = (Arc::clone(&locked), Arc::clone(&ended));
        let ask = move || follow(address.as_deref(), &told, &stop);
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
fn follow(address: Option<&str>, locked: &AtomicBool, ended: &AtomicBool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            return tracing::warn!(%error, "nobody asks whether the session is locked");
        }
    };
    let mut told = None;
    while !ended.load(Ordering::SeqCst) {
        let Err(error) = runtime.block_on(listen(address, locked, ended)) else {
            return;
        };
        // Its last word holds no longer: whoever ended, or restarted, may have unlocked the session.
        locked.store(false, Ordering::SeqCst);
        let error = error.to_string();
        if told.as_ref() != Some(&error) {
            tracing::debug!(error, "logind does not tell whether the session is locked");
            told = Some(error);
        }
        let tried = Instant::now();
        while tried.elapsed() < PATIENCE && !ended.load(Ordering::SeqCst) {
            std::thread::sleep(LOOK);
        }
    }
}

/// Asks until it is ended or something fails.
#[cfg(target_os = "linux")]
async fn listen(
    address: Option<&str>,
    locked: &AtomicBool,
    ended: &AtomicBool,
) -> Result<(), Box<dyn std::error::Error>> {
    let bus = match address {
        Some(address) => zbus::connection::Builder::address(address),
        None => zbus::connection::Builder::system(),
    };
    let bus = bus.method_timeout(PATIENCE).build();
    let bus = tokio::time::timeout(PATIENCE, bus).await??;
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
}

/// macOS and Windows: not yet.
#[cfg(not(target_os = "linux"))]
fn follow(_: Option<&str>, _: &AtomicBool, _: &AtomicBool) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(
        clippy::expect_used,
        reason = "a test's helpers may fail the test as the test itself may"
    )]

    use std::{
        io::{BufRead as _, BufReader, Write as _},
        process::{Child, Command, Stdio},
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

    fn bus() -> (Ended, String) {
        let bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon");
        let mut bus = Ended(bus);
        let address = first_line(&mut bus);
        (bus, address)
    }

    fn logind(address: &str) -> Ended {
        let logind = Command::new("/usr/bin/python3")
            .args(["-c", LOGIND, address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut logind = Ended(logind);
        assert_eq!(first_line(&mut logind), "ready");
        logind
    }

    fn say(logind: &mut Ended, word: &str) {
        let input = logind.0.stdin.as_mut().expect("piped");
        writeln!(input, "{word}").expect("heard");
    }

    /// Locking and unlocking is heard, over a real bus.
    #[test]
    fn a_lock_is_heard() {
        let (_bus, address) = bus();
        let mut logind = logind(&address);
        let hint = LockHint::watch(Some(address));
        say(&mut logind, "lock");
        assert!(becomes(&hint, true), "locked");
        say(&mut logind, "unlock");
        assert!(becomes(&hint, false), "unlocked");
    }

    /// A logind that ends takes its word with it, and the one that comes after it is heard.
    #[test]
    fn logind_is_asked_again_after_it_ended() {
        let (_bus, address) = bus();
        let mut first = logind(&address);
        let hint = LockHint::watch(Some(address.clone()));
        say(&mut first, "lock");
        assert!(becomes(&hint, true), "locked");
        drop(first);
        assert!(becomes(&hint, false), "nobody says so any more");
        let mut second = logind(&address);
        say(&mut second, "lock");
        assert!(becomes(&hint, true), "the next one says so");
    }

    /// Without logind the session counts as unlocked.
    #[test]
    fn no_bus_is_no_lock() {
        let hint = LockHint::watch(Some("unix:path=/nonexistent".to_owned()));
        assert!(!hint.is_locked());
    }
}
