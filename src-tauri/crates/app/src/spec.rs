//! What a run was asked to do and with what: the JSON kept with it, so that any process can execute it.

use std::path::PathBuf;

use openspace_agent::Limits;
use openspace_store::Run;
use serde::{Deserialize, Serialize};

use crate::{Code, Failure, failure::Result};

/// Everything that shapes a run besides its words and its limits. Secrets are not part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSpec {
    /// `provider/model`, or `recorded/NAME`.
    pub model: String,
    /// Address of the service, where it is not the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Back ends offered.
    pub backends: Vec<String>,
    /// Folder to work in, absolute.
    pub workspace: PathBuf,
    /// The folder was named by no person and by no setting, so a person is asked first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workspace_asked: bool,
    /// `ask-always`, `ask-risky` or `hands-off`
    pub preset: String,
    /// Rules granted for this run.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Which display.
    pub display: Display,
    /// Which monitor of it; without a name the primary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
    /// Whether somebody is there to answer.
    pub attendance: SpecAttendance,
    /// Files given along, absolute.
    #[serde(default)]
    pub attachments: Vec<PathBuf>,
}

impl RunSpec {
    /// What a run was asked to do and with what.
    pub fn of(run: &Run) -> Result<Self> {
        serde_json::from_value(run.settings.clone()).map_err(|error| {
            Failure::new(
                Code::Store,
                format!("what the run was asked to work with cannot be read: {error}"),
            )
        })
    }
}

/// Where a run sees and acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// The person's.
    Session,
    /// The one of this name.
    Named(String),
    /// One of its own.
    Private,
}

impl Display {
    /// Reads what a person writes: nothing, `private`, or a name such as `:0`.
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            None | Some("") => Self::Session,
            Some("private") => Self::Private,
            Some(name) => Self::Named(name.to_owned()),
        }
    }
}

/// See [`openspace_agent::Attendance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecAttendance {
    /// Questions wait until they are answered.
    Waits,
    /// Questions are denied at once.
    Absent,
    /// Questions are denied when nobody has answered for this many milliseconds.
    WaitsForMs(u64),
}

impl From<SpecAttendance> for openspace_agent::Attendance {
    fn from(attendance: SpecAttendance) -> Self {
        match attendance {
            SpecAttendance::Waits => Self::Waits,
            SpecAttendance::Absent => Self::Absent,
            SpecAttendance::WaitsForMs(ms) => Self::WaitsFor(std::time::Duration::from_millis(ms)),
        }
    }
}

/// What a surface asks for. What is not said follows from the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// What to do, in words.
    pub task: String,
    /// The session to go on in.
    pub session: Option<String>,
    /// Who asks: `cli`, `app`, `host:NAME`, `channel:NAME`.
    pub origin: String,
    /// The same request again is the same run.
    pub idempotency_key: Option<String>,
    /// Model, where it differs from the settings.
    pub model: Option<String>,
    /// Back ends, where they differ from the settings.
    pub backends: Option<Vec<String>>,
    /// Folder, where it differs from the settings.
    pub workspace: Option<PathBuf>,
    /// Folder the request comes from, for relative paths.
    pub folder: PathBuf,
    /// Limits, where they differ from the settings.
    pub limits: Limits,
    /// Preset, where it differs from the settings.
    pub preset: Option<String>,
    /// Rules granted for this run.
    pub allow: Vec<String>,
    /// Which display.
    pub display: Display,
    /// Which monitor.
    pub monitor: Option<String>,
    /// Whether somebody is there to answer.
    pub attendance: SpecAttendance,
    /// Files given along.
    pub attachments: Vec<PathBuf>,
}
