//! `openspace config`

use openspace_app::{
    Code, Configuration, Environment, Failure, SCHEMA, Settings, SettingsFile, refuse_runs,
};
use serde_json::json;

use crate::{args::ConfigCommand, exit::Exit, output};

pub(crate) fn config(command: ConfigCommand, environment: &Environment) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Path => {
            let paths = openspace_app::paths(environment)?;
            output::line(&format!("settings  {}", paths.config.display()));
            output::line(&format!("data      {}", paths.data.display()));
            Ok(Exit::Done)
        }
        ConfigCommand::Get { key, json: as_json } => {
            let settings = Configuration::read(environment, &[])?.settings;
            let entries = match key {
                None => settings.entries(),
                Some(key) => vec![settings.entry(&key).ok_or_else(|| {
                    let failure =
                        Failure::new(Code::InvalidRequest, format!("there is no setting `{key}`"));
                    match SCHEMA.nearest(&key) {
                        Some(nearest) => failure.hint(format!("did you mean `{nearest}`?")),
                        None => failure.hint("see all of them with `openspace config get`"),
                    }
                })?],
            };
            for entry in entries {
                let value = entry.value.as_deref();
                if as_json {
                    output::json(
                        &json!({ "key": entry.key, "value": value, "origin": entry.origin.to_string(), "about": entry.about }),
                    );
                } else {
                    output::line(&format!(
                        "{} = {}  # {}; {}",
                        entry.key,
                        value.unwrap_or("(not set)"),
                        entry.origin,
                        entry.about
                    ));
                }
            }
            Ok(Exit::Done)
        }
        ConfigCommand::Set { key, value } => {
            refuse_runs(&[], "change settings")?;
            let paths = openspace_app::paths(environment)?;
            SettingsFile::new(&paths.config, SCHEMA)
                .set::<Settings>(&key, &value)
                .map_err(|error| Failure::new(Code::Configuration, error.to_string()))?;
            output::note(&format!("{}: {key} = {value}", paths.config.display()));
            Ok(Exit::Done)
        }
    }
}
