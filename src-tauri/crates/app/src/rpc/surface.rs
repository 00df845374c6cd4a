//! What the program is, and what windows keep.

use serde_json::Value;

use super::{Call, Nothing, choice, payload};
use crate::{App, Code, Failure, MARKER, control::holders, failure::Result};

/// Longest text of a value kept for windows, bytes of JSON.
const LONGEST: usize = 256 * 1024;

choice! {
    /// Where a page runs.
    pub enum Place {
        /// In a window of the app.
        Window,
        /// In a browser.
        Page,
    }
}

payload! {
    /// What the program is and where it stands.
    pub struct AppState {
        /// Version of the program.
        pub version: String,
        /// Where the page runs.
        pub place: Place,
        /// `linux`, `macos` or `windows`.
        pub system: String,
        /// `en` or `zh-Hans`.
        pub language: String,
        /// What every title must contain, so that runs know our windows in any browser.
        pub marker: String,
        /// Newest event: where watching begins.
        #[cfg_attr(test, ts(type = "number"))]
        pub cursor: i64,
        /// The model of the settings, where one is named.
        pub model: Option<String>,
        /// The person's display, where there is one.
        pub display: Option<String>,
        /// Why there is no screen to use, where there is none.
        pub no_screen: Option<String>,
        /// Runs that hold a display at this moment.
        pub in_control: Vec<String>,
        /// Questions that wait for an answer.
        pub open_approvals: u32,
        /// The person's home folder.
        pub home: String,
        /// Folder of everything that is kept.
        pub data: String,
        /// The settings file.
        pub settings_file: String,
        /// A process that executes queued runs is alive.
        pub runner: bool,
        /// Settings that take effect only once the app is started again.
        pub needs_restart: Vec<String>,
    }

    /// Asks for a kept value.
    pub struct UiStateGetRequest {
        /// Its name.
        pub key: String,
    }

    /// A kept value.
    pub struct UiStateGetResponse {
        /// The value; null where there is none.
        #[cfg_attr(test, ts(type = "unknown"))]
        pub value: Value,
    }

    /// Keeps a value.
    pub struct UiStateSetRequest {
        /// Its name.
        pub key: String,
        /// The value; null forgets it.
        #[cfg_attr(test, ts(type = "unknown"))]
        pub value: Value,
    }
}

impl Call<'_> {
    pub(super) async fn app_state(&self, _: Nothing) -> Result<AppState> {
        let app = self.app;
        let (cursor, pending, runner) = app
            .store
            .read(|db| {
                Ok((
                    db.events().last_id()?,
                    db.approvals().pending()?.len(),
                    db.instances().claimer_alive()?,
                ))
            })
            .await?;
        let (display, no_screen) = match app.screen_name().await {
            Ok(name) => (Some(name), None),
            Err(failure) => (None, Some(failure.message)),
        };
        Ok(AppState {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            place: match self.caller {
                super::Caller::Window | super::Caller::Untouched => Place::Window,
                super::Caller::Page => Place::Page,
            },
            system: std::env::consts::OS.to_owned(),
            language: app.language()?.tag().to_owned(),
            marker: MARKER.to_owned(),
            cursor,
            model: app.model_name(),
            display,
            no_screen,
            in_control: holders(&app.paths.runtime)
                .iter()
                .map(ToString::to_string)
                .collect(),
            open_approvals: u32::try_from(pending).unwrap_or(u32::MAX),
            home: app.paths.home.display().to_string(),
            data: app.paths.data.display().to_string(),
            settings_file: app.paths.config.display().to_string(),
            runner,
            needs_restart: app
                .waiting_for_restart()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
    }

    /// Windows of the app never come here: the desk starts it anew.
    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn app_restart(&self, _: Nothing) -> Result<Nothing> {
        Err(
            Failure::new(Code::Forbidden, "only a window of the app starts it anew")
                .hint("quit OpenSpace in its tray and start it again"),
        )
    }

    pub(super) async fn ui_state_get(
        &self,
        request: UiStateGetRequest,
    ) -> Result<UiStateGetResponse> {
        let value = self
            .app
            .store
            .read(move |db| db.ui_state().get(&request.key))
            .await?;
        Ok(UiStateGetResponse {
            value: value.unwrap_or_default(),
        })
    }

    pub(super) async fn ui_state_set(&self, request: UiStateSetRequest) -> Result<Nothing> {
        if request.value.to_string().len() > LONGEST || request.key.len() > 200 {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("`{}` is too large to be kept for a window", request.key),
            ));
        }
        if super::desktop::is_told_by_the_app(&request.key)
            || super::agents::is_told_by_the_server(&request.key)
        {
            return Err(Failure::new(
                Code::Forbidden,
                format!("only the app itself writes `{}`", request.key),
            ));
        }
        self.app
            .store
            .call(move |db| {
                let value = (!request.value.is_null()).then_some(&request.value);
                db.ui_state().set(&request.key, value)
            })
            .await?;
        Ok(Nothing {})
    }
}

impl App {
    /// Name of the person's display, or why it cannot be used.
    async fn screen_name(&self) -> Result<String> {
        let options = self.session_platform();
        let opened = tokio::task::spawn_blocking(move || {
            openspace_gui::platform::open(&options).map(|platform| platform.display_name)
        });
        let opened = opened
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        opened.map_err(|error| Failure::new(Code::Unavailable, error.to_string()))
    }
}
