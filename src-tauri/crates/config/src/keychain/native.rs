//! macOS Keychain and Windows Credential Manager. Written after the interface of `keyring`; not yet
//! tried on such machines.

use keyring::{Entry, Error};
use zeroize::Zeroizing;

use super::{Answer, KeychainError, Place, Reading, SERVICE};

impl Place {
    pub(super) fn read(&self, account: &str, _progress: &Reading) -> Answer {
        match entry(account)?.get_password() {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(explained(&error)),
        }
    }

    pub(super) fn write(
        &self,
        account: &str,
        _label: &str,
        text: &str,
        progress: &Reading,
    ) -> Answer {
        let entry = entry(account)?;
        if !progress.may_write() {
            return Err(KeychainError::NoAnswer);
        }
        entry
            .set_password(text)
            .map_err(|error| explained(&error))?;
        self.read(account, progress)
    }
}

fn entry(account: &str) -> Result<Entry, KeychainError> {
    Entry::new(SERVICE, account).map_err(|error| explained(&error))
}

fn explained(error: &Error) -> KeychainError {
    match error {
        Error::NoDefaultStore => KeychainError::NoService,
        Error::NoStorageAccess(_) => KeychainError::Locked { asking: false },
        // This one carries what was read.
        Error::BadEncoding(_) => KeychainError::Foreign,
        other => KeychainError::Refused(other.to_string()),
    }
}
