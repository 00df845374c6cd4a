//! Opening a data folder and running calls on it.

use std::{
    cell::Cell,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, TransactionBehavior};

use crate::{
    Db, Error, Result, Watch, connection, files, migrate,
    watch::{Poll, Signal},
};

/// Unix milliseconds, as a parameter so that tests own the time.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Connections for reading that are kept open.
const READERS: usize = 4;

/// A data folder and its database. Cloning is cheap; all clones share one writing connection.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) folder: Folder,
    clock: Clock,
    /// Before the writer, so that the writer is closed last: only it can fold the log into the database.
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Connection>,
    /// Wakes watches of this process at once after a commit.
    pub(crate) signal: Signal,
    pub(crate) poll: Mutex<Weak<Poll>>,
}

/// Where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("openspace.db")
    }

    pub(crate) fn frames(&self) -> PathBuf {
        self.0.join("frames")
    }

    pub(crate) fn artefacts(&self) -> PathBuf {
        self.0.join("artefacts")
    }

    pub(crate) fn changes(&self) -> PathBuf {
        self.0.join("changes")
    }

    pub(crate) fn instances(&self) -> PathBuf {
        self.0.join("instances")
    }

    pub(crate) fn staging(&self) -> PathBuf {
        self.0.join("staging")
    }
}

impl Store {
    /// Opens the store in `folder`, which is created when it is missing. Work that a killed process
    /// left between a file and its row is completed or rolled back.
    ///
    /// # Errors
    /// [`Error::TooNew`] and [`Error::NotADatabase`] leave everything as it is.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, Arc::new(system_time))
    }

    /// As [`Store::open`], with a clock of the caller's.
    pub fn open_with(folder: &Path, clock: Clock) -> Result<Self> {
        create_private(folder)?;
        // Two processes that start together must not both create tables or complete files.
        let _opening = lock_opening(folder)?;
        let folder = Folder(folder.to_owned());
        let database = folder.database();
        create_database(&database)?;
        migrate::inspect(&database)?;
        for sub in [
            folder.frames(),
            folder.artefacts(),
            folder.changes(),
            folder.instances(),
            folder.staging(),
        ] {
            create_private(&sub)?;
        }
        let mut writer = connection::writer(&database)?;
        migrate::migrate(&mut writer)?;
        let store = Self {
            inner: Arc::new(Inner {
                folder,
                clock,
                writer: Mutex::new(writer),
                readers: Mutex::default(),
                signal: Signal::default(),
                poll: Mutex::default(),
            }),
        };
        files::recover(&store)?;
        Ok(store)
    }

    /// Runs `work` in a transaction that may write, on a thread that may block. Committed when it
    /// answers `Ok`, rolled back otherwise. One such call runs at a time, in all processes together.
    pub async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.spawn(move |store| store.call_blocking(work)).await
    }

    /// Runs `work` in a transaction that only reads, on a thread that may block. It sees one state of
    /// the database throughout and waits for nobody. Writing answers [`Error::ReadOnly`].
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.spawn(move |store| store.read_blocking(work)).await
    }

    /// Runs blocking work with this store, such as keeping a frame, on a thread that may block.
    pub async fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_cancelled) => Err(Error::ShuttingDown),
            },
        }
    }

    /// [`Store::call`] for a thread that may block. Calls do not nest.
    pub fn call_blocking<T>(&self, work: impl FnOnce(&Db<'_>) -> Result<T>) -> Result<T> {
        let inner = &self.inner;
        let mut writer = lock(&inner.writer);
        // IMMEDIATE: whoever begins will not find at its first write that somebody was faster.
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let db = Db {
            connection: &transaction,
            folder: &inner.folder,
            now: (inner.clock)(),
            appended: Cell::new(false),
        };
        let value = work(&db)?;
        let appended = db.appended.get();
        transaction.commit()?;
        if appended {
            inner.signal.raise();
        }
        Ok(value)
    }

    /// [`Store::read`] for a thread that may block.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&Db<'_>) -> Result<T>) -> Result<T> {
        let inner = &self.inner;
        let kept = lock(&inner.readers).pop();
        let mut reader = match kept {
            Some(reader) => reader,
            None => connection::reader(&inner.folder.database())?,
        };
        let result = {
            let transaction = reader.transaction()?;
            work(&Db {
                connection: &transaction,
                folder: &inner.folder,
                now: (inner.clock)(),
                appended: Cell::new(false),
            })
        };
        let mut readers = lock(&inner.readers);
        if readers.len() < READERS {
            readers.push(reader);
        }
        result
    }

    /// Events of every process whose id is above `cursor`, in the order of ids, without gaps or
    /// repetitions. While one exists, a thread looks for other processes' writes every 25 ms.
    pub fn watch(&self, cursor: i64) -> Result<Watch> {
        Watch::new(self, cursor)
    }

    /// The time of the store's clock, Unix milliseconds.
    pub fn now(&self) -> i64 {
        (self.inner.clock)()
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.inner.folder.0
    }
}

/// A panic while the lock was held rolled its transaction back, so what it guards is sound.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn system_time() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
}

/// Creates a folder only its owner may enter. One that exists keeps its permissions: it may be a
/// folder the person chose.
pub(crate) fn create_private(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(Error::file("create", folder))
}

/// Opens a file of ours for writing, created with permissions for its owner only.
pub(crate) fn open_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// SQLite gives its companion files the permissions of the database, so it must exist with the right
/// ones before SQLite sees it.
fn create_database(path: &Path) -> Result<()> {
    open_private(path)
        .map(drop)
        .map_err(Error::file("open", path))
}

fn lock_opening(folder: &Path) -> Result<File> {
    let path = folder.join("open.lock");
    let file = open_private(&path).map_err(Error::file("open", &path))?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < connection::BUSY_LIMIT => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Err(Error::Busy),
            Err(TryLockError::Error(error)) => return Err(Error::file("lock", path)(error)),
        }
    }
}
