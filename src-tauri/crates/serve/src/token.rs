//! The secret that opens the windows' calls to a page, and nothing else.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq as _;

use crate::Error;

/// Random bytes of a token: as many as of a 256-bit key.
const BYTES: usize = 32;

/// Opens `/rpc`, `/events`, `/frames` and `/artefacts`. Never printed but in the address that is
/// handed to the person's browser.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token([redacted])")
    }
}

impl Token {
    /// The token kept in a file only its owner can read, made at the first use.
    pub fn kept(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Token {
            path: path.to_owned(),
            source,
        };
        match read(path) {
            Ok(Some(token)) => Ok(token),
            Ok(None) => {
                let token = Self::random().map_err(failed)?;
                write(path, &token).map_err(failed)?;
                Ok(token)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Whether somebody presents this token. Takes the same time whatever is presented.
    pub fn is(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// The value, for the address that is handed over.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// None when there is no usable one: missing, readable by others, or damaged.
fn read(path: &Path) -> io::Result<Option<Token>> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Ok(None);
        }
    }
    let mut text = String::new();
    file.take(1_024).read_to_string(&mut text)?;
    let text = text.trim();
    let right = URL_SAFE_NO_PAD
        .decode(text)
        .is_ok_and(|bytes| bytes.len() == BYTES);
    Ok(right.then(|| Token(text.to_owned())))
}

fn write(path: &Path, token: &Token) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file is private from the start.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(token.0.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same token is found again, and only by its owner.
    #[test]
    fn a_token_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ui-token");
        let token = Token::kept(&path).expect("made");
        assert!(token.is(Token::kept(&path).expect("kept").expose()));
        assert!(!token.is(&format!("{}x", token.expose())));
        assert!(!token.is(""));
        assert_eq!(format!("{token:?}"), "Token([redacted])");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            // One that others could have read is not used any more.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
            assert!(!token.is(Token::kept(&path).expect("made anew").expose()));
        }
    }

    /// Half a token is no token.
    #[test]
    fn a_damaged_token_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ui-token");
        fs::write(&path, "abc").expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        }
        assert!(!Token::kept(&path).expect("made").is("abc"));
    }
}
