//! Being asked to end: Ctrl-C, or the system's own request.

#[cfg(unix)]
pub(crate) use unix::EndRequests;
#[cfg(windows)]
pub(crate) use windows::EndRequests;

#[cfg(unix)]
mod unix {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// Ctrl-C and SIGTERM. A closed terminal (SIGHUP) is heard and ignored: it ends nothing.
    pub(crate) struct EndRequests {
        interrupt: Signal,
        terminate: Signal,
        hangup: Signal,
    }

    impl EndRequests {
        pub(crate) fn listen() -> std::io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
            })
        }

        /// Returns with the next request.
        pub(crate) async fn next(&mut self) {
            loop {
                tokio::select! {
                    _ = self.interrupt.recv() => return,
                    _ = self.terminate.recv() => return,
                    _ = self.hangup.recv() => {}
                }
            }
        }
    }
}

/// Not yet tried on such a machine.
#[cfg(windows)]
mod windows {
    use tokio::signal::windows::{CtrlC, ctrl_c};

    /// Ctrl-C.
    pub(crate) struct EndRequests {
        interrupt: CtrlC,
    }

    impl EndRequests {
        pub(crate) fn listen() -> std::io::Result<Self> {
            Ok(Self {
                interrupt: ctrl_c()?,
            })
        }

        /// Returns with the next request.
        pub(crate) async fn next(&mut self) {
            self.interrupt.recv().await;
        }
    }
}
