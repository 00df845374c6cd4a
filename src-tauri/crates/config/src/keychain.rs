//! The keychain of the operating system, for one small item: the key of the secrets file.
//!
//! The item is named by service `openspace` and an account per data folder, so that two data
//! folders never take each other's key. It holds 64 hexadecimal digits: some keychains keep text
//! only (KDE Wallet), others little of it (Windows, 2,560 bytes).
//!
//! On Linux the Secret Service is spoken to over the zbus of this workspace: the store of the
//! `keyring` crate takes the address of the bus from the process's environment only, which is
//! missing where hosts start us, and brings a second zbus. macOS and Windows go through `keyring`.
//!
//! Only what a person starts may open it. A server that a host agent starts must not: it would put
//! a prompt on the screen that nobody asked for.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{DesktopSession, secrets::DataKey};

#[cfg(not(target_os = "linux"))]
mod native;
#[cfg(target_os = "linux")]
mod secret_service;

/// The name our item goes by, together with its account.
pub const SERVICE: &str = "openspace";
/// How long whoever asks is kept waiting (design, section 13), and as long again where something is
/// being written by then: what may still happen must not be taken for given up.
const LIMIT: Duration = Duration::from_secs(3);

/// Why the keychain gave or took nothing, in terms of who can put it right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeychainError {
    /// There is no session bus to reach a keychain by: log in, or keep keys elsewhere.
    #[error("this session has no bus (D-Bus) by which a keychain could be reached")]
    NoBus,
    /// Nothing on the bus keeps secrets: install or start a keychain.
    #[error("nothing on this session's bus keeps secrets (no Secret Service)")]
    NoService,
    /// It needs its password first. `asking` while its own prompt is still on the screen.
    #[error("the keychain is locked{}", if *asking { " and asks for its password" } else { ", and its prompt was closed or could not be shown" })]
    Locked {
        /// Its prompt is still shown; after an answer the next try succeeds.
        asking: bool,
    },
    /// It is there and does not answer: try again, or restart it.
    #[error("the keychain did not answer within {} s", LIMIT.as_secs())]
    NoAnswer,
    /// It ended or hung up in the middle: try again.
    #[error("the keychain ended before it answered")]
    Died,
    /// The item is there and is no key of ours: somebody changed it.
    #[error("the keychain's item for OpenSpace does not hold a key")]
    Foreign,
    /// It took a key and gives another one: another program keeps one in its place.
    #[error("the keychain does not give back what it was given to keep")]
    Replaced,
    /// Anything else it says.
    #[error("the keychain refused: {0}")]
    Refused(String),
}

/// The keychain, with the account of one data folder in it. Reading happens at most once: what was
/// read is remembered, an attempt that is still going is joined, and only a failed one is repeated.
/// So is writing: a key that may still be kept is never overtaken by another one.
#[derive(Debug)]
pub struct Keychain {
    place: Place,
    account: String,
    reading: Mutex<Option<Arc<Reading>>>,
    writing: Mutex<Option<Arc<Reading>>>,
}

/// How the keychain is reached.
#[derive(Debug, Clone)]
struct Place {
    /// Address of the session bus, on Linux.
    #[cfg(target_os = "linux")]
    bus: Option<String>,
}

impl Keychain {
    /// The keychain of this desktop session. Nothing is opened yet.
    pub fn new(session: &DesktopSession, account: impl Into<String>) -> Self {
        #[cfg(not(target_os = "linux"))]
        let _unneeded = session;
        Self {
            place: Place {
                #[cfg(target_os = "linux")]
                bus: session.bus().map(str::to_owned),
            },
            account: account.into(),
            reading: Mutex::new(None),
            writing: Mutex::new(None),
        }
    }

    /// The key of this account, if one was ever kept.
    ///
    /// # Errors
    /// Any [`KeychainError`], after at most three seconds.
    pub fn key(&self) -> Result<Option<DataKey>, KeychainError> {
        let reading = {
            let mut current = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            let joined = current.as_ref().filter(|reading| reading.can_be_joined());
            if let Some(reading) = joined {
                Arc::clone(reading)
            } else {
                let account = self.account.clone();
                let reading = Reading::start(self.place.clone(), move |place, progress| {
                    place.read(&account, progress)
                })?;
                *current = Some(Arc::clone(&reading));
                reading
            }
        };
        let text = reading.answer()?;
        text.map(|text| DataKey::from_hexadecimal(&text).ok_or(KeychainError::Foreign))
            .transpose()
    }

    /// Keeps a new key and tells which one is kept, once the keychain gives it back: this one, or the
    /// one of an attempt that was given up and still goes on. `label` is what the keychain's own
    /// window shows.
    ///
    /// # Errors
    /// Any [`KeychainError`], after at most three seconds, or six where the keychain had begun to
    /// keep it; then whether it was kept is unknown.
    pub fn keep(&self, key: &DataKey, label: &str) -> Result<DataKey, KeychainError> {
        let writing = {
            let mut current = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let joined = current.as_ref().filter(|writing| !writing.has_ended());
            if let Some(writing) = joined {
                Arc::clone(writing)
            } else {
                let text = key.hexadecimal();
                let (account, label) = (self.account.clone(), label.to_owned());
                let writing = Reading::start(self.place.clone(), move |place, progress| {
                    let given = place.write(&account, &label, &text, progress)?;
                    if given.as_ref() != Some(&text) {
                        return Err(KeychainError::Replaced);
                    }
                    Ok(given)
                })?;
                *current = Some(Arc::clone(&writing));
                writing
            }
        };
        let text = writing.answer()?.ok_or(KeychainError::Replaced)?;
        let key = DataKey::from_hexadecimal(&text).ok_or(KeychainError::Foreign)?;
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::new(Reading::known(text)));
        Ok(key)
    }
}

type Text = zeroize::Zeroizing<String>;
type Answer = Result<Option<Text>, KeychainError>;

/// One conversation with the keychain on a thread of its own: a keychain may show a prompt, hang or
/// die, and nobody else may hang with it.
#[derive(Debug)]
struct Reading {
    deadline: Instant,
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Clone)]
enum Progress {
    Asked,
    /// The keychain's own prompt is on the screen. Other systems do not tell.
    #[cfg(target_os = "linux")]
    Prompting,
    /// What is to be kept is on its way: nobody can take it back.
    Writing,
    Done(Answer),
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked",
            #[cfg(target_os = "linux")]
            Self::Prompting => "prompting",
            Self::Writing => "writing",
            Self::Done(Ok(_)) => "answered",
            Self::Done(Err(_)) => "failed",
        })
    }
}

impl Reading {
    fn start(
        place: Place,
        talk: impl FnOnce(&Place, &Reading) -> Answer + Send + 'static,
    ) -> Result<Arc<Self>, KeychainError> {
        let reading = Arc::new(Self {
            deadline: Instant::now() + LIMIT,
            progress: Mutex::new(Progress::Asked),
            changed: Condvar::new(),
        });
        let of_thread = Arc::clone(&reading);
        std::thread::Builder::new()
            .name("keychain".to_owned())
            .spawn(move || {
                let answer = talk(&place, &of_thread);
                of_thread.set(Progress::Done(answer));
            })
            .map_err(|error| KeychainError::Refused(error.to_string()))?;
        Ok(reading)
    }

    /// What is known without asking.
    fn known(text: Text) -> Self {
        Self {
            deadline: Instant::now(),
            progress: Mutex::new(Progress::Done(Ok(Some(text)))),
            changed: Condvar::new(),
        }
    }

    fn set(&self, progress: Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        self.changed.notify_all();
    }

    /// Whether something may be written now: not when whoever wanted it has given up, who may have
    /// made another key meanwhile. From here on they wait until it is known what became of it.
    fn may_write(&self) -> bool {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let awaited = Instant::now() < self.deadline;
        if awaited {
            *progress = Progress::Writing;
        }
        awaited
    }

    fn has_ended(&self) -> bool {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*progress, Progress::Done(_))
    }

    /// It has the key, or may still get it.
    fn can_be_joined(&self) -> bool {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match &*progress {
            Progress::Asked => Instant::now() < self.deadline,
            #[cfg(target_os = "linux")]
            Progress::Prompting => true,
            Progress::Writing => false,
            Progress::Done(answer) => matches!(answer, Ok(Some(_))),
        }
    }

    /// The answer, awaited until the deadline.
    fn answer(&self) -> Answer {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Progress::Done(answer) = &*progress {
                return answer.clone();
            }
            let deadline = match &*progress {
                Progress::Writing => self.deadline + LIMIT,
                _ => self.deadline,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(match &*progress {
                    #[cfg(target_os = "linux")]
                    Progress::Prompting => KeychainError::Locked { asking: true },
                    Progress::Asked | Progress::Writing | Progress::Done(_) => {
                        KeychainError::NoAnswer
                    }
                });
            }
            progress = self
                .changed
                .wait_timeout(progress, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}
