//! The settings, as a window shows and changes them.

use openspace_config::{Origin, SettingsFile};

use super::{Call, Nothing, choice, payload};
use crate::{App, Code, Failure, SCHEMA, Settings, failure::Result};

payload! {
    /// One setting.
    pub struct SettingView {
        /// Its name.
        pub key: String,
        /// Its value as TOML; null where there is none.
        pub value: Option<String>,
        /// What applies when nobody sets it.
        pub default: Option<String>,
        /// Who gave the value.
        pub origin: SettingOrigin,
        /// The variable, file or flag.
        pub origin_name: Option<String>,
        /// What it does, in English.
        pub about: String,
    }

    /// Settings.
    pub struct SettingsListResponse {
        /// In the order of the reference.
        pub settings: Vec<SettingView>,
        /// What is wrong with the file: until it is mended the settings from before apply.
        pub wrong: Option<String>,
    }

    /// Changes a setting.
    pub struct SettingSetRequest {
        /// Its name.
        pub key: String,
        /// Its value, as a person writes it on the command line; null goes back to the default.
        pub value: Option<String>,
    }
}

choice! {
    /// Who gave a value.
    pub enum SettingOrigin {
        /// Nobody.
        Default,
        /// The settings file.
        File,
        /// A variable; the file cannot change it.
        Variable,
        /// A flag; the file cannot change it.
        Flag,
    }
}

impl Call<'_> {
    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn settings_list(&self, _: Nothing) -> Result<SettingsListResponse> {
        let wrong = self.app.reload_settings().err();
        Ok(SettingsListResponse {
            settings: self.settings_now()?,
            wrong: wrong.map(|failure| failure.message),
        })
    }

    fn settings_now(&self) -> Result<Vec<SettingView>> {
        let defaults = openspace_config::Layers::new(SCHEMA)
            .load::<Settings>()
            .map_err(|errors| Failure::new(Code::Internal, errors.to_string()))?;
        let settings = self.app.settings();
        Ok(settings
            .entries()
            .into_iter()
            .map(|entry| {
                let (origin, origin_name) = origin(&entry.origin);
                SettingView {
                    default: defaults.entry(&entry.key).and_then(|entry| entry.value),
                    key: entry.key,
                    value: entry.value,
                    origin,
                    origin_name,
                    about: entry.about.to_owned(),
                }
            })
            .collect())
    }

    pub(super) async fn setting_set(&self, request: SettingSetRequest) -> Result<SettingView> {
        self.app.refuse_runs("change settings")?;
        self.refuse_while_controlled(None).await?;
        let file = SettingsFile::new(&self.app.paths.config, SCHEMA);
        let key = request.key.clone();
        let written = tokio::task::spawn_blocking(move || match request.value {
            Some(value) => file.set::<Settings>(&request.key, &value),
            None => file.unset(&request.key).map(drop),
        });
        written
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?
            .map_err(|error| Failure::new(Code::Configuration, error.to_string()))?;
        self.app.reload_settings()?;
        self.app.tell_settings(&key, self.caller.name()).await?;
        self.settings_now()?
            .into_iter()
            .find(|setting| setting.key == key)
            .ok_or_else(|| {
                Failure::new(
                    Code::NotFound,
                    format!("there is no setting `{key}` any more"),
                )
            })
    }
}

impl App {
    /// Tells every surface that a setting was changed, or, by the name of the file, any of them.
    pub(crate) async fn tell_settings(&self, key: &str, by: &str) -> Result<()> {
        let told = openspace_store::NewEvent {
            topic: "settings".to_owned(),
            key: key.to_owned(),
            kind: "settings.changed".to_owned(),
            v: 1,
            payload: serde_json::json!({ "by": by }),
        };
        let tell = move |db: &openspace_store::Db<'_>| db.events().append(told).map(drop);
        Ok(self.store.call(tell).await?)
    }
}

fn origin(origin: &Origin) -> (SettingOrigin, Option<String>) {
    match origin {
        Origin::Default => (SettingOrigin::Default, None),
        Origin::File { .. } => (SettingOrigin::File, Some(origin.to_string())),
        Origin::Variable(name) => (SettingOrigin::Variable, Some(name.clone())),
        Origin::Flag(flag) => (SettingOrigin::Flag, Some(flag.clone())),
    }
}
