//! The vault, as far as it goes without a keychain. `tests/it/keys` of the root has the rest.

use std::{fs, path::Path};

use openspace_config::{
    DesktopSession, Environment, KeychainError, Paths, Secret, SecretsError, Vault,
    secrets::{Kept, Protect, Protection},
};

/// The vault of a folder, in a session without any bus.
fn vault(folder: &Path, variables: &[(&str, &str)]) -> Vault {
    let paths = Paths {
        data: folder.to_owned(),
        config: folder.join("settings.toml"),
        cache: folder.join("cache"),
        runtime: folder.join("run"),
        home: folder.to_owned(),
    };
    let environment: Environment = variables.iter().copied().collect();
    Vault::new(&paths, &DesktopSession::default(), &environment)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn passphrase_vault(folder: &Path) -> Vault {
    let vault = vault(folder, &[]);
    vault
        .protect(Protect::Passphrase(secret("correct horse")))
        .expect("protected");
    vault
}

/// Whoever has kept nothing has nothing, and no keychain is asked for it.
#[test]
fn an_empty_vault_needs_no_keychain() {
    let folder = folder();
    let vault = vault(folder.path(), &[]);
    assert_eq!(
        vault.get("provider:openai").expect("no keychain is needed"),
        None
    );
    assert!(vault.all().expect("none").is_empty());
    assert!(!vault.remove("provider:openai").expect("nothing to remove"));
    assert_eq!(files(folder.path()), [""; 0]);
}

/// Without a keychain nothing is kept, nothing is written, and the reason is told.
#[test]
fn without_a_keychain_nothing_is_written() {
    let folder = folder();
    let vault = vault(folder.path(), &[]);
    let refused = vault.set("provider:openai", secret("sk-planted"));
    assert!(matches!(
        refused,
        Err(SecretsError::Keychain(KeychainError::NoBus))
    ));
    assert_eq!(files(folder.path()), [".secrets.lock"]);
}

/// A secret for the session is had until the process ends, and never written.
#[test]
fn a_secret_for_the_session_is_in_memory_only() {
    let folder = folder();
    let vault_here = vault(folder.path(), &[]);
    vault_here.set_for_session("provider:openai", secret("sk-planted"));
    let (found, kept) = vault_here
        .get("provider:openai")
        .expect("memory")
        .expect("it is there");
    assert_eq!(
        (found.expose().as_str(), kept),
        ("sk-planted", Kept::Session)
    );
    assert_eq!(files(folder.path()), [""; 0]);
    let other = vault(folder.path(), &[]);
    assert_eq!(other.get("provider:openai").expect("memory"), None);
    assert!(vault_here.remove("provider:openai").expect("removed"));
    assert_eq!(vault_here.get("provider:openai").expect("memory"), None);
}

/// A passphrase opens the file in another process, a wrong one does not, and none is asked for.
#[test]
fn a_passphrase_protects_the_file() {
    let folder = folder();
    let writer = passphrase_vault(folder.path());
    let kept = writer.set("provider:openai", secret("sk-planted"));
    assert_eq!(kept.expect("kept"), Protection::Passphrase);
    let path = folder.path().join("secrets");
    let bytes = fs::read(&path).expect("the file");
    assert!(!String::from_utf8_lossy(&bytes).contains("planted"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    let reader = vault(folder.path(), &[]);
    assert!(reader.overview().expect("a head").needs_passphrase);
    let get = |vault: &Vault| vault.get("provider:openai");
    assert!(matches!(get(&reader), Err(SecretsError::NeedsPassphrase)));
    assert_eq!(reader.get("provider:groq").expect("not in it"), None);
    let wrong = reader.unlock(&secret("correct horses"));
    assert!(matches!(wrong, Err(SecretsError::WrongPassphrase)));
    assert!(matches!(get(&reader), Err(SecretsError::NeedsPassphrase)));
    reader.unlock(&secret("correct horse")).expect("unlocked");
    let (found, kept) = get(&reader).expect("open").expect("there");
    assert_eq!(found.expose(), "sk-planted");
    assert_eq!(kept, Kept::File(Protection::Passphrase));
    assert!(!reader.overview().expect("a head").needs_passphrase);
    assert!(!format!("{reader:?}").contains("planted"));
}

/// A new passphrase closes the file to the old one and to who has it open.
#[test]
fn a_new_passphrase_replaces_the_old_one() {
    let folder = folder();
    let first = passphrase_vault(folder.path());
    first.set("a", secret("1")).expect("kept");
    let second = vault(folder.path(), &[]);
    second.unlock(&secret("correct horse")).expect("unlocked");
    second
        .protect(Protect::Passphrase(secret("battery staple")))
        .expect("protected");
    assert!(matches!(first.get("a"), Err(SecretsError::NeedsPassphrase)));
    first.unlock(&secret("battery staple")).expect("unlocked");
    let (found, _) = first.get("a").expect("open").expect("there");
    assert_eq!(found.expose(), "1");
}

/// Secrets are removed from the file, the last one too, and the file stays protected.
#[test]
fn secrets_are_removed_one_by_one() {
    let folder = folder();
    let vault = passphrase_vault(folder.path());
    for name in ["a", "b"] {
        vault.set(name, secret(name)).expect("kept");
    }
    assert!(vault.remove("a").expect("removed"));
    assert!(!vault.remove("a").expect("gone already"));
    assert_eq!(vault.overview().expect("a head").names, ["b"]);
    assert!(vault.remove("b").expect("removed"));
    let overview = vault.overview().expect("a head");
    assert_eq!(overview.protection, Some(Protection::Passphrase));
    assert!(overview.names.is_empty());
}

/// A damaged file is told, and no call that fails changes it.
#[test]
fn a_damaged_file_is_never_written_over() {
    let folder = folder();
    let vault = passphrase_vault(folder.path());
    vault.set("a", secret("1")).expect("kept");
    let path = folder.path().join("secrets");
    let whole = fs::read(&path).expect("the file");
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let cases: [&[u8]; 4] = [
        &flipped,
        &whole[..whole.len() - 5],
        b"",
        b"something else\n",
    ];
    for damaged in cases {
        fs::write(&path, damaged).expect("write");
        let failures = [
            vault.get("a").err(),
            vault.set("b", secret("2")).err(),
            vault
                .protect(Protect::Passphrase(secret("another one")))
                .err(),
        ];
        for failure in failures {
            assert!(
                matches!(
                    failure,
                    Some(SecretsError::DoesNotOpen { .. } | SecretsError::Damaged { .. })
                ),
                "{failure:?}"
            );
        }
        assert_eq!(fs::read(&path).expect("the file"), damaged, "as it was");
    }
    fs::write(&path, &whole).expect("write");
    assert!(vault.get("a").expect("whole again").is_some());
}

/// Whatever lies where the file belongs is left alone.
#[test]
fn something_else_in_its_place_is_left_alone() {
    let folder = folder();
    fs::create_dir(folder.path().join("secrets")).expect("a folder");
    let vault = vault(folder.path(), &[("OPENSPACE_SECRETS_PLAINTEXT", "1")]);
    let refused = vault.set("a", secret("1"));
    assert!(matches!(refused, Err(SecretsError::Damaged { .. })));
    assert!(folder.path().join("secrets").is_dir());
}

/// Plain text is written and read only while the variable says so, and protecting ends it.
#[test]
fn plain_text_needs_the_variable() {
    let folder = folder();
    let allowed = vault(folder.path(), &[("OPENSPACE_SECRETS_PLAINTEXT", "1")]);
    let kept = allowed.set("a", secret("sk-planted"));
    assert_eq!(kept.expect("kept"), Protection::None);
    let path = folder.path().join("secrets");
    let text = || String::from_utf8_lossy(&fs::read(&path).expect("the file")).into_owned();
    assert!(text().contains("planted"));
    for value in ["", "0", "yes"] {
        let other = vault(folder.path(), &[("OPENSPACE_SECRETS_PLAINTEXT", value)]);
        assert!(matches!(
            other.get("a"),
            Err(SecretsError::PlainRefused { .. })
        ));
        assert!(other.set("b", secret("2")).is_err());
    }
    let other = vault(folder.path(), &[]);
    other
        .protect(Protect::Passphrase(secret("correct horse")))
        .expect("protected");
    assert!(!text().contains("planted"));
    let (found, _) = other.get("a").expect("open").expect("there");
    assert_eq!(found.expose(), "sk-planted");
}

/// Whoever writes at the same time loses nothing of the others'.
#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = folder();
    passphrase_vault(folder.path());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let vault = vault(folder, &[]);
                vault.unlock(&secret("correct horse")).expect("unlocked");
                for number in 0..5 {
                    let name = format!("{writer}:{number}");
                    vault.set(&name, secret(&name)).expect("kept");
                }
            });
        }
    });
    let reader = vault(folder.path(), &[]);
    reader.unlock(&secret("correct horse")).expect("unlocked");
    let all = reader.all().expect("open");
    assert_eq!(all.len(), 20);
    assert!(all.iter().all(|(name, value)| value.expose() == name));
    assert_eq!(files(folder.path()), [".secrets.lock", "secrets"]);
}
