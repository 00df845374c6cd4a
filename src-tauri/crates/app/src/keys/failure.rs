//! What is wrong with kept keys, and what a person can do instead.

use openspace_config::{KeychainError, SecretsError};
use openspace_llm::provider::Provider;

use crate::{Code, Failure};

/// The failure with a stable `reason` among its parameters. Where no keychain can be had, the hint
/// names the three choices there are.
pub(crate) fn explained(error: &SecretsError, provider: Option<&Provider>) -> Failure {
    let message = match provider {
        Some(provider) => format!("no access to the key of {}: {error}", provider.name),
        None => error.to_string(),
    };
    let failure = Failure::new(code(error), message).param("reason", reason(error));
    let failure = match provider {
        Some(provider) => failure.param("provider", provider.name),
        None => failure,
    };
    let failure = match error {
        SecretsError::Keychain(
            KeychainError::NoAnswer | KeychainError::Died | KeychainError::Locked { asking: true },
        )
        | SecretsError::Busy => failure.retryable(),
        _ => failure,
    };
    failure.hint(hint(error, provider))
}

fn code(error: &SecretsError) -> Code {
    match error {
        SecretsError::Keychain(_)
        | SecretsError::KeyMissing { .. }
        | SecretsError::NeedsPassphrase
        | SecretsError::WrongPassphrase
        | SecretsError::PlainRefused { .. } => Code::Credentials,
        SecretsError::System(_) => Code::Internal,
        _ => Code::Store,
    }
}

/// For programs: what happened, in one word.
fn reason(error: &SecretsError) -> &'static str {
    match error {
        SecretsError::Keychain(error) => match error {
            KeychainError::NoBus => "no_session_bus",
            KeychainError::NoService => "no_secret_service",
            KeychainError::Locked { .. } => "keychain_locked",
            KeychainError::NoAnswer => "keychain_timeout",
            KeychainError::Died => "keychain_died",
            KeychainError::Foreign => "keychain_item_changed",
            _ => "keychain_refused",
        },
        SecretsError::KeyMissing { .. } => "data_key_missing",
        SecretsError::NeedsPassphrase => "passphrase_needed",
        SecretsError::WrongPassphrase => "passphrase_wrong",
        SecretsError::PlainRefused { .. } => "plain_text_refused",
        SecretsError::DoesNotOpen { .. } | SecretsError::Damaged { .. } => "file_damaged",
        SecretsError::Newer { .. } => "file_too_new",
        SecretsError::Busy => "busy",
        SecretsError::Unreadable { .. } => "file_unreadable",
        SecretsError::Unwritable { .. } => "file_unwritable",
        _ => "system",
    }
}

fn hint(error: &SecretsError, provider: Option<&Provider>) -> String {
    let variable = provider
        .and_then(|provider| provider.key_variables.first())
        .copied()
        .unwrap_or("OPENSPACE_LLM_API_KEY");
    match error {
        SecretsError::Keychain(KeychainError::Locked { asking: true }) => {
            format!("answer its prompt and try again; or give the key in `{variable}`")
        }
        SecretsError::Keychain(KeychainError::Locked { asking: false }) => format!(
            "unlock it (signing in usually does) and try again. {}",
            choices(variable)
        ),
        SecretsError::Keychain(KeychainError::Foreign) | SecretsError::KeyMissing { .. } => {
            format!(
                "without that key the file cannot be opened by anybody: move it away and set the keys \
             again; or give the key in `{variable}`"
            )
        }
        SecretsError::Keychain(_) => choices(variable),
        SecretsError::NeedsPassphrase => format!(
            "run this in a terminal, where it is asked for, or unlock the keys in the app; or give \
             the key in `{variable}`"
        ),
        SecretsError::WrongPassphrase => "try again; nothing was changed".to_owned(),
        SecretsError::DoesNotOpen { .. } | SecretsError::Damaged { .. } => format!(
            "it was left as it is: put a copy back, or move it away and set the keys again; or \
             give the key in `{variable}`"
        ),
        SecretsError::Newer { .. } => "update this program".to_owned(),
        SecretsError::PlainRefused { .. } => {
            "protect them: openspace keys protect keychain (or passphrase)".to_owned()
        }
        SecretsError::Busy => "try again".to_owned(),
        SecretsError::Unreadable { .. } | SecretsError::Unwritable { .. } => {
            "mend its permissions, or free some space".to_owned()
        }
        _ => "try again when the machine has less to do".to_owned(),
    }
}

/// The three choices of who has no keychain.
fn choices(variable: &str) -> String {
    format!(
        "there are three other ways: an encrypted file that a passphrase opens (openspace keys \
         protect passphrase); for this session only, in the app; or the variable `{variable}`"
    )
}
