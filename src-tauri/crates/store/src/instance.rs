//! This process, as others see it.

use std::fs::{File, TryLockError};

use crate::{Db, Error, InstanceId, NewInstance, Result, Store, Windows, store::open_private};

/// This process is alive: a lock that the operating system releases when it ends, however it ends.
/// Keep the value for as long as the process may own runs.
pub struct Instance {
    id: InstanceId,
    store: Store,
    /// Held for its lock; closed after the row is marked. None where there is no row.
    lock: Option<File>,
}

impl Instance {
    /// Takes the lock and writes the row. Rows of processes that ended without saying so are marked.
    pub fn register(store: &Store, new: &NewInstance) -> Result<Self> {
        let id = InstanceId::random();
        let path = store.inner.folder.instances().join(format!("{id}.lock"));
        let lock = open_private(&path).map_err(Error::file("create", &path))?;
        // Locked before the row exists, so nobody ever sees a row of a living process without a lock.
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy),
            Err(TryLockError::Error(error)) => return Err(Error::file("lock", path)(error)),
        }
        store.call_blocking(|db| {
            db.instances().sweep()?;
            db.instances().insert(&id, new)
        })?;
        Ok(Self {
            id,
            store: store.clone(),
            lock: Some(lock),
        })
    }

    /// For a process that owns no runs, shows no windows and must not wait until the store can be
    /// written: others do not see it.
    pub fn unlisted(store: &Store) -> Self {
        Self {
            id: InstanceId::random(),
            store: store.clone(),
            lock: None,
        }
    }

    /// Its id.
    pub fn id(&self) -> &InstanceId {
        &self.id
    }

    /// Replaces what is off limits for clicks and keys because of this process.
    pub fn set_windows(&self, windows: &Windows) -> Result<()> {
        self.store
            .call_blocking(|db: &Db<'_>| db.instances().set_windows(&self.id, windows))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        if let Err(error) = self
            .store
            .call_blocking(|db| db.instances().mark_gone(&self.id))
        {
            // The released lock says the same to everybody who looks.
            tracing::warn!(%error, "marking this process as gone");
        }
    }
}
