//! What works on this machine, and a report for the developers.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use super::{
    Call, Nothing, choice,
    exports::{ExportPreview, RunExported},
    payload,
    sentence::Sentence,
    starts::from_home,
};
use crate::{
    App, Catalogue, Check, Code, Failure, Health, Language,
    doctor::CHECKS,
    export::{ExportContent, ExportFile},
    failure::Result,
};

/// A check that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(10);
/// The same where a model is asked, which may have to think.
const LIMIT_OF_MODEL: Duration = Duration::from_secs(30);
/// The end of a log that goes into a report, bytes.
const LOG_END: u64 = 256 * 1024;

payload! {
    /// The checks there are.
    pub struct ChecksListResponse {
        /// Their names, in the order they are shown.
        pub checks: Vec<String>,
    }

    /// Performs one check.
    pub struct CheckRunRequest {
        /// Its name.
        pub check: String,
        /// For the model: also ask it.
        #[serde(default)]
        pub ask_model: bool,
    }

    /// What a check found.
    pub struct CheckRunResponse {
        /// One or several things.
        pub findings: Vec<Finding>,
        /// Milliseconds it took.
        pub milliseconds: u32,
    }

    /// One thing a check found.
    pub struct Finding {
        /// Stable name.
        pub id: String,
        /// How it came out.
        pub health: FindingHealth,
        /// What was found, in one or several parts.
        pub found: Vec<Sentence>,
        /// What to do.
        pub fix: Option<Sentence>,
        /// What the system or a provider said of it, in its own words.
        pub detail: Option<String>,
        /// The host it is about, where it is mended.
        pub host: Option<FindingHost>,
        /// It is as it should be once the app is started again.
        pub needs_restart: bool,
    }

    /// A host that a finding is about.
    pub struct FindingHost {
        /// Its name in requests.
        pub host: String,
        /// One of its files, where that is not the person's own.
        pub file: Option<String>,
    }

    /// What a report would hold.
    pub struct ReportPreview {
        /// File by file.
        pub preview: ExportPreview,
    }

    /// Writes a report.
    pub struct ReportCreateRequest {
        /// A folder that does not exist yet.
        pub folder: String,
    }
}

choice! {
    /// How a check came out.
    pub enum FindingHealth {
        /// It works.
        Ok,
        /// It works, with something to know.
        Warning,
        /// It does not work, and should.
        Problem,
        /// It is not there, which is fine.
        Off,
    }
}

impl Call<'_> {
    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn checks_list(&self, _: Nothing) -> Result<ChecksListResponse> {
        Ok(ChecksListResponse {
            checks: CHECKS.iter().map(|&name| name.to_owned()).collect(),
        })
    }

    pub(super) async fn check_run(&self, request: CheckRunRequest) -> Result<CheckRunResponse> {
        let started = Instant::now();
        let check = self.app.diagnose(&request.check, request.ask_model);
        let limit = if request.ask_model {
            LIMIT_OF_MODEL
        } else {
            LIMIT
        };
        let findings = match tokio::time::timeout(limit, check).await {
            Ok(Some(checks)) => checks.into_iter().map(Into::into).collect(),
            Ok(None) => {
                return Err(Failure::new(
                    Code::InvalidRequest,
                    format!("there is no check `{}`", request.check),
                ));
            }
            Err(_) => vec![Finding {
                id: request.check,
                health: FindingHealth::Problem,
                found: vec![
                    Sentence::new("check.timeout").with("seconds", limit.as_secs().to_string()),
                ],
                fix: None,
                detail: None,
                host: None,
                needs_restart: false,
            }],
        };
        Ok(CheckRunResponse {
            findings,
            milliseconds: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
        })
    }

    pub(super) async fn click_test(&self, _: Nothing) -> Result<CheckRunResponse> {
        let started = Instant::now();
        let finding = self.app.click_test().await?.into();
        Ok(CheckRunResponse {
            findings: vec![finding],
            milliseconds: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
        })
    }

    pub(super) async fn report_preview(&self, _: Nothing) -> Result<ReportPreview> {
        let files = self.app.report_files().await?;
        let folder = self.app.paths.home.join(format!(
            "openspace-report-{}",
            jiff::Zoned::now().strftime("%Y%m%d-%H%M%S")
        ));
        Ok(ReportPreview {
            preview: ExportPreview::of(&files, folder.display().to_string()),
        })
    }

    pub(super) async fn report_create(&self, request: ReportCreateRequest) -> Result<RunExported> {
        self.app.refuse_runs("write reports")?;
        let folder = from_home(&self.app.paths.home, &request.folder);
        let files = self.app.report_files().await?;
        let count = files.len();
        self.app.write_files(files, &folder, &[]).await?;
        Ok(RunExported {
            folder: folder.display().to_string(),
            files: u32::try_from(count).unwrap_or(u32::MAX),
        })
    }
}

impl From<Check> for Finding {
    fn from(check: Check) -> Self {
        Self {
            id: check.id.to_owned(),
            health: match check.health {
                Health::Ok => FindingHealth::Ok,
                Health::Warning => FindingHealth::Warning,
                Health::Problem => FindingHealth::Problem,
                Health::Off => FindingHealth::Off,
            },
            found: check.found,
            fix: check.fix,
            detail: check.detail,
            host: check.host.map(|it| FindingHost {
                host: it.host.to_owned(),
                file: it.file.map(|file| file.display().to_string()),
            }),
            needs_restart: check.needs_restart,
        }
    }
}

impl App {
    /// Version, checks, settings without secrets, and the ends of our logs. No task, no picture.
    async fn report_files(&self) -> Result<Vec<ExportFile>> {
        let redaction = self.redaction()?;
        let text = |path: &str, text: &str| {
            let (text, redacted) = redaction.apply(text);
            ExportFile {
                path: path.into(),
                content: ExportContent::Text(text),
                redacted,
            }
        };
        // For the developers, whatever language the person speaks.
        let english = Catalogue::load(Language::English)
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        let checks = self.doctor(false).await;
        let checks: Vec<_> = checks.iter().map(|check| check.json(&english)).collect();
        let checks = serde_json::to_string_pretty(&checks).unwrap_or_default();
        let about = format!(
            "OpenSpace {}\n{} {}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        );
        let mut settings = String::new();
        for entry in self.settings().entries() {
            // Headers carry credentials of any shape.
            let value = match entry.value {
                Some(_) if entry.key.starts_with("model.headers") => "[redacted]".to_owned(),
                Some(value) => value,
                None => continue,
            };
            // Writing into a text cannot fail.
            let _written = writeln!(settings, "{} = {value}    # {}", entry.key, entry.origin);
        }
        let mut files = vec![
            text("about.txt", &about),
            text("checks.json", &checks),
            text("settings.txt", &settings),
        ];
        for path in self.logs() {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            if let (Some(name), Ok(end)) = (name, end_of(&path)) {
                files.push(text(&name, &end));
            }
        }
        Ok(files)
    }

    /// Our log files.
    pub(super) fn logs(&self) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(self.paths.data.join("logs"));
        let mut logs: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
            .collect();
        logs.sort();
        logs
    }
}

pub(super) fn end_of(path: &std::path::Path) -> std::io::Result<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};

    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
