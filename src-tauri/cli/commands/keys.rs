//! `openspace keys`

use std::io::Read as _;

use openspace_app::{
    App, Code, Environment, Failure, Keep, KeptIn, KeySource, Protect, ProviderKey, Secret,
};

use crate::{
    args::{KeysCommand, ProtectWith},
    exit::Exit,
    output, secret_input,
};

/// How often a passphrase may be mistyped.
const ATTEMPTS: usize = 3;
/// More than any key has.
const MOST_INPUT: u64 = 64 * 1024;

pub(crate) async fn keys(command: KeysCommand, environment: Environment) -> Result<Exit, Failure> {
    let app = super::open(environment, false, &[])?;
    app.refuse_runs("use keys")?;
    match command {
        KeysCommand::List { json } => list(&app, json).await,
        KeysCommand::Set { provider, stdin } => set(&app, &provider, stdin).await,
        KeysCommand::Test { provider, model } => {
            unlock(&app).await?;
            let (model, source) = app.test_key(&provider, model).await?;
            let values = [("model", model.as_str()), ("source", &from(&app, &source))];
            output::note(&app.catalogue.render("keys.works", &values));
            Ok(Exit::Done)
        }
        KeysCommand::Remove { provider } => {
            unlock(&app).await?;
            let removed = app.remove_key(&provider).await?;
            let key = if removed {
                "keys.removed"
            } else {
                "keys.none_of"
            };
            output::note(&app.catalogue.render(key, &[("provider", &provider)]));
            Ok(Exit::Done)
        }
        KeysCommand::Protect { with } => protect(&app, with).await,
    }
}

/// Where a key is from, as a phrase.
pub(crate) fn from(app: &App, source: &KeySource) -> String {
    let variable = source.variable().unwrap_or_default();
    app.catalogue.render(
        &format!("key.from.{}", source.id()),
        &[("variable", variable)],
    )
}

/// Before a run that a person watches: asks for the passphrase if its key is behind one. Others
/// cannot be asked, and are told when the key is looked for.
pub(crate) async fn unlock_for_run(
    app: &App,
    model: Option<&str>,
    attended: bool,
) -> Result<(), Failure> {
    let named = model.map(str::to_owned).or(app.values().model.name.clone());
    let Some(model) = named.filter(|_| attended) else {
        return Ok(());
    };
    if app.model_needs_passphrase(&model) {
        unlock(app).await?;
    }
    Ok(())
}

/// Asks for the passphrase if there is one, it was not given yet, and somebody can be asked.
async fn unlock(app: &App) -> Result<(), Failure> {
    if !app.keys(false).await?.needs_passphrase || !secret_input::can_ask() {
        return Ok(());
    }
    let prompt = app.catalogue.render("keys.ask_passphrase", &[]);
    for attempt in 1.. {
        let Some(passphrase) = secret_input::ask(prompt.clone()).await? else {
            return Err(cancelled());
        };
        match app.unlock_keys(passphrase).await {
            Ok(()) => return Ok(()),
            Err(failure) if attempt >= ATTEMPTS => return Err(failure),
            Err(failure) if failure.code == Code::Credentials => output::failure(&failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

fn cancelled() -> Failure {
    Failure::new(
        Code::InvalidRequest,
        "nothing was typed, so nothing was done",
    )
}

async fn list(app: &App, as_json: bool) -> Result<Exit, Failure> {
    unlock(app).await?;
    let keys = app.keys(true).await?;
    if as_json {
        keys.providers.iter().for_each(output::json);
    } else {
        let render = |key: &str, values: &[(&str, &str)]| app.catalogue.render(key, values);
        for key in &keys.providers {
            if let Some(line) = line(app, key) {
                output::line(&line);
            }
        }
        let without: Vec<_> = keys
            .providers
            .iter()
            .filter(|key| key.needs_key && key.kept.is_none() && key.variable.is_none())
            .map(|key| key.provider.as_str())
            .collect();
        if !without.is_empty() {
            let names = without.join(", ");
            output::line(&render("keys.list.none", &[("providers", &names)]));
        }
    }
    warn_about_plain_text(app, keys.protection, &keys.file);
    if let Some(problem) = &keys.problem {
        output::failure(problem);
        return Ok(match Exit::of_failure(problem) {
            // The list is there; only the keys in it could not be looked at.
            Exit::Usage => Exit::Failed,
            exit => exit,
        });
    }
    Ok(Exit::Done)
}

fn line(app: &App, key: &ProviderKey) -> Option<String> {
    let render = |name: &str, values: &[(&str, &str)]| app.catalogue.render(name, values);
    let kept = key.kept.map(|kept| {
        let place = render(&format!("keys.kept.{}", id(kept)), &[]);
        match &key.ending {
            Some(ending) => format!("{ending} {place}"),
            None => place,
        }
    });
    let text = match (&key.variable, kept) {
        (Some(variable), None) => render("keys.list.variable", &[("variable", variable)]),
        (Some(variable), Some(kept)) => {
            render("keys.list.both", &[("variable", variable), ("kept", &kept)])
        }
        (None, Some(kept)) => kept,
        (None, None) => return None,
    };
    Some(format!("{:<18} {text}", key.provider))
}

fn id(kept: KeptIn) -> &'static str {
    KeySource::from(kept).id()
}

async fn set(app: &App, provider: &str, stdin: bool) -> Result<Exit, Failure> {
    app.key_provider(provider)?;
    let key = if stdin {
        read_input()?
    } else if secret_input::can_ask() {
        let prompt = app
            .catalogue
            .render("keys.ask_key", &[("provider", provider)]);
        match secret_input::ask(prompt).await? {
            Some(key) => key,
            None => return Err(cancelled()),
        }
    } else {
        return Err(Failure::new(
            Code::InvalidRequest,
            "there is no terminal on which the key could be asked for",
        )
        .hint(format!(
            "give it on standard input: openspace keys set {provider} --stdin < FILE"
        )));
    };
    unlock(app).await?;
    if cfg!(target_os = "macos") {
        output::note(&app.catalogue.render("keys.announce_macos", &[]));
    }
    let kept = app.set_key(provider, key, Keep::File).await?;
    let place = app
        .catalogue
        .render(&format!("keys.kept.{}", id(kept.kept)), &[]);
    let values = [
        ("provider", kept.provider.as_str()),
        ("ending", &kept.ending),
        ("kept", &place),
    ];
    output::note(&app.catalogue.render("keys.set", &values));
    if let Some(variable) = &kept.variable {
        let values = [("variable", variable.as_str())];
        output::note(&app.catalogue.render("keys.variable_wins", &values));
    }
    let keys = app.keys(false).await?;
    warn_about_plain_text(app, keys.protection, &keys.file);
    Ok(Exit::Done)
}

/// The key from standard input. It must come from there or the terminal: arguments are seen by every
/// program of the machine and stay in the shell's history.
fn read_input() -> Result<Secret<String>, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MOST_INPUT)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::new(
                Code::InvalidRequest,
                format!("the key cannot be read from standard input: {error}"),
            )
        })?;
    String::from_utf8(bytes).map(Secret::new).map_err(|_| {
        Failure::new(
            Code::InvalidRequest,
            "standard input is not text, so it is no key",
        )
    })
}

async fn protect(app: &App, with: ProtectWith) -> Result<Exit, Failure> {
    unlock(app).await?;
    let with = match with {
        ProtectWith::Keychain => Protect::Keychain,
        ProtectWith::Passphrase => Protect::Passphrase(new_passphrase(app).await?),
    };
    let key = match &with {
        Protect::Keychain => "keys.protected.keychain",
        Protect::Passphrase(_) => "keys.protected.passphrase",
    };
    app.protect_keys(with).await?;
    output::note(&app.catalogue.render(key, &[]));
    Ok(Exit::Done)
}

async fn new_passphrase(app: &App) -> Result<Secret<String>, Failure> {
    if !secret_input::can_ask() {
        return Err(Failure::new(
            Code::InvalidRequest,
            "there is no terminal on which the passphrase could be asked for",
        )
        .hint("run this in a terminal"));
    }
    let ask = async |key: &str| {
        let typed = secret_input::ask(app.catalogue.render(key, &[])).await?;
        typed.ok_or_else(cancelled)
    };
    let passphrase = ask("keys.ask_new_passphrase").await?;
    if ask("keys.ask_again").await? != passphrase {
        return Err(Failure::new(
            Code::InvalidRequest,
            "the two are not the same, so nothing was changed",
        ));
    }
    Ok(passphrase)
}

fn warn_about_plain_text(app: &App, protection: Option<KeptIn>, file: &std::path::Path) {
    if protection == Some(KeptIn::Plain) {
        let file = file.display().to_string();
        output::note(&app.catalogue.render("keys.plain_text", &[("file", &file)]));
    }
}
