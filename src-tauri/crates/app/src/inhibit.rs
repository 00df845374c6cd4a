//! Keeping the machine awake while a run has the screen.

#[cfg(target_os = "linux")]
pub(crate) use linux::Inhibition;

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    /// A lock of logind (`org.freedesktop.login1.Manager.Inhibit`); dropping it lets the machine sleep.
    pub(crate) struct Inhibition {
        _lock: zbus::OwnedFd,
    }

    impl Inhibition {
        /// Takes a lock if there is a logind that gives one within half a second. Its absence is
        /// normal: containers and private displays have none, and nothing there goes to sleep.
        pub(crate) fn take() -> Option<Self> {
            let (sender, receiver) = std::sync::mpsc::channel();
            let ask = move || {
                let lock = inhibit();
                // The one who asked may have given up waiting.
                let _gone = sender.send(lock);
            };
            std::thread::Builder::new()
                .name("inhibit".to_owned())
                .spawn(ask)
                .ok()?;
            match receiver.recv_timeout(Duration::from_millis(500)) {
                Ok(Ok(lock)) => Some(Self { _lock: lock }),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "no inhibitor lock: the machine may go to sleep");
                    None
                }
                Err(_) => {
                    tracing::debug!("logind did not answer: the machine may go to sleep");
                    None
                }
            }
        }
    }

    fn inhibit() -> zbus::Result<zbus::OwnedFd> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let connection = zbus::Connection::system().await?;
            let reply = connection
                .call_method(
                    Some("org.freedesktop.login1"),
                    "/org/freedesktop/login1",
                    Some("org.freedesktop.login1.Manager"),
                    "Inhibit",
                    &(
                        "sleep:idle",
                        "OpenSpace",
                        "A task is using the screen",
                        "block",
                    ),
                )
                .await?;
            reply.body().deserialize()
        })
    }
}

/// macOS and Windows: not yet, so `doctor` says it.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Inhibition;

#[cfg(not(target_os = "linux"))]
impl Inhibition {
    pub(crate) fn take() -> Option<Self> {
        None
    }
}
