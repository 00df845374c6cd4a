//! What would keep a run from starting, in the words of a window: a person there has no command line
//! to be sent to.

use super::{
    Call, Sentence, choice, payload,
    starts::{RunStartRequest, check_length, from_home},
};
use crate::{
    App, Catalogue, Code, Display, Failure, RunRequest,
    display::{NOT_PERMITTED, no_screen},
    failure::Result,
};

payload! {
    /// What would keep a run from starting.
    pub struct RunPreflightResponse {
        /// In the order they should be mended; empty when nothing is missing.
        pub problems: Vec<PreflightProblem>,
    }

    /// Something missing.
    pub struct PreflightProblem {
        /// What it is about.
        pub about: PreflightSubject,
        /// It keeps the run from starting; otherwise it only limits it.
        pub blocks: bool,
        /// What is missing, in the language of the settings.
        pub message: String,
        /// What a person at a window can do, in the same language.
        pub hint: Option<String>,
        /// The program's own words, in English; null where the message says everything.
        pub details: Option<String>,
        /// The file or folder it is about, as the request names it.
        pub path: Option<String>,
    }
}

choice! {
    /// What something missing is about.
    pub enum PreflightSubject {
        /// The task itself.
        Task,
        /// The model or its key.
        Model,
        /// The folder to work in.
        Folder,
        /// A file given along.
        Attachment,
        /// How far it may go.
        Limits,
        /// What the system has to allow first.
        Permission,
        /// The screen.
        Screen,
        /// Anything else in the request.
        Request,
    }
}

/// A failure's `reason`, what it is about, and its sentence; what to do about it is the same with
/// `.do`.
const WORDS: &[(&str, PreflightSubject, &str)] = &[
    ("task_empty", PreflightSubject::Task, "no_task"),
    ("task_too_long", PreflightSubject::Task, "long_task"),
    ("no_model", PreflightSubject::Model, "no_model"),
    ("model_name", PreflightSubject::Model, "model_name"),
    ("no_key", PreflightSubject::Model, "no_key"),
    ("base_url", PreflightSubject::Model, "base_url"),
    ("passphrase_needed", PreflightSubject::Model, "keys_locked"),
    ("keychain_locked", PreflightSubject::Model, "keychain"),
    ("keychain_timeout", PreflightSubject::Model, "keychain"),
    ("folder", PreflightSubject::Folder, "folder"),
    ("attachment", PreflightSubject::Attachment, "attachment"),
    ("picture", PreflightSubject::Attachment, "picture"),
    ("backends", PreflightSubject::Request, "backends"),
    ("price", PreflightSubject::Limits, "price"),
    (NOT_PERMITTED, PreflightSubject::Permission, "permission"),
];

/// What a failure is about, and the key of its sentence.
fn words_for(failure: &Failure) -> (PreflightSubject, &'static str) {
    let reason = failure.params.get("reason").map(String::as_str);
    let known = WORDS.iter().find(|(name, ..)| Some(*name) == reason);
    if let Some((_, about, key)) = known {
        return (*about, *key);
    }
    match failure.code {
        // Whatever else is wrong with what is kept names whose key it is.
        _ if failure.params.contains_key("provider") => (PreflightSubject::Model, "keys"),
        Code::Credentials | Code::Model => (PreflightSubject::Model, "model"),
        Code::Unavailable => (PreflightSubject::Screen, "screen"),
        Code::Configuration => (PreflightSubject::Request, "settings"),
        _ => (PreflightSubject::Request, "request"),
    }
}

/// The sentence of a problem and the one about what to do.
fn sentences(failure: &Failure, key: &str) -> [Sentence; 2] {
    [format!("preflight.{key}"), format!("preflight.{key}.do")].map(|key| Sentence {
        key,
        params: failure.params.clone(),
    })
}

impl Call<'_> {
    pub(super) async fn run_preflight(
        &self,
        request: RunStartRequest,
    ) -> Result<RunPreflightResponse> {
        // In the language of the settings, which may have changed since the start.
        let catalogue = Catalogue::load(self.app.language()?)
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        let mut failures = Vec::new();
        if request.task.trim().is_empty() {
            let empty = Failure::new(Code::InvalidRequest, "the task is empty");
            failures.push((empty.param("reason", "task_empty"), true));
        } else if let Err(failure) = check_length(&request.task) {
            failures.push((failure.param("reason", "task_too_long"), true));
        }
        let attached = request.attachments.clone();
        let with_task = RunStartRequest {
            task: "-".to_owned(),
            ..request
        };
        match self.request(with_task) {
            Err(failure) => failures.push((failure, true)),
            Ok(request) => failures.extend(self.app.preflight(&request).await),
        }
        let problems = failures.iter().map(|(failure, blocks)| {
            let (about, key) = words_for(failure);
            let [message, hint] = sentences(failure, key).map(|it| it.render(&catalogue));
            let path = failure.params.get("path").map(|path| {
                let same =
                    |text: &&String| from_home(&self.app.paths.home, text).as_os_str() == &**path;
                attached.iter().find(same).unwrap_or(path).clone()
            });
            PreflightProblem {
                about,
                blocks: *blocks,
                message,
                hint: Some(hint),
                details: (about != PreflightSubject::Task).then(|| failure.message.clone()),
                path,
            }
        });
        Ok(RunPreflightResponse {
            problems: problems.collect(),
        })
    }
}

impl App {
    /// What would go wrong with a request, without asking the model, and whether it blocks.
    async fn preflight(&self, request: &RunRequest) -> Vec<(Failure, bool)> {
        let spec = match self.check_request(request) {
            Ok(spec) => spec,
            Err(failure) => return vec![(failure, true)],
        };
        let mut failures = Vec::new();
        if !spec.model.starts_with("recorded/")
            && let Err(failure) = self.connect(&spec, None).await
        {
            failures.push((failure, true));
        }
        let wants_screen = spec.backends.iter().any(|backend| backend == "gui");
        if wants_screen && spec.display != Display::Private {
            let alone = spec.backends.len() == 1;
            let options = self.session_platform();
            let opened = tokio::task::spawn_blocking(move || {
                openspace_gui::platform::open(&options).map(drop)
            });
            if let Ok(Err(error)) = opened.await {
                failures.push((no_screen(&error), alone));
            }
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        Language,
        desk::double::{Seat, seat},
        rpc::{Caller, Rpc},
    };

    /// What a window is told about a request, in a language.
    async fn told(language: &str, settings: &str, request: Value) -> Vec<PreflightProblem> {
        let Seat { desk, .. } = seat();
        let app = desk.app();
        let text = format!("language = \"{language}\"\n{settings}");
        std::fs::write(&app.paths.config, text).expect("written");
        app.reload_settings().expect("right");
        let rpc = Rpc::new(app.clone(), std::sync::Arc::default());
        let answer = rpc.call(Caller::Window, "run_preflight", request).await;
        let answer: RunPreflightResponse =
            serde_json::from_value(answer.expect("answered")).expect("fits");
        answer.problems
    }

    /// Everything that can be missing has its sentence and what to do, in both languages, with all of
    /// its values, and sends nobody to a command line.
    #[test]
    fn every_problem_has_its_words() {
        let mut failure = Failure::new(Code::Internal, "x");
        for value in ["model", "provider", "path"] {
            failure = failure.param(value, "VALUE");
        }
        let others = ["keys", "model", "screen", "settings", "request"];
        for language in [Language::English, Language::SimplifiedChinese] {
            let catalogue = Catalogue::load(language).expect("built in");
            for key in WORDS.iter().map(|(.., key)| *key).chain(others) {
                for sentence in sentences(&failure, key) {
                    assert!(
                        catalogue.has(&sentence.key),
                        "{language:?}: {}",
                        sentence.key
                    );
                    let text = sentence.render(&catalogue);
                    assert!(!text.contains('…'), "{language:?}: {text}");
                    for command in ["--", "openspace ", "OPENSPACE_", "`"] {
                        assert!(!text.contains(command), "{language:?}: {text}");
                    }
                }
            }
        }
    }

    /// A window is told what is missing in its own language and in its own terms.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_window_is_told_in_its_language() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let picture = root.join("scan.png");
        std::fs::write(&picture, "no picture").expect("written");
        let missing = root.join("missing");
        let key = "[model]\nname = \"anthropic/claude-sonnet-4-6\"\n";
        let priced = format!("{key}[run]\nmax_cost = 1.0\n");
        let priced = priced.replace("claude-sonnet-4-6", "nobody-knows-it");
        let ask = |more: Value| {
            let mut request = json!({ "task": "Count files", "backends": ["shell"] });
            let more = more.as_object().cloned().unwrap_or_default();
            request.as_object_mut().expect("an object").extend(more);
            request
        };
        let cases = [
            ("", json!({}), PreflightSubject::Model, None),
            (key, json!({}), PreflightSubject::Model, None),
            (
                "[model]\nname = \"nobody/model\"\n",
                json!({}),
                PreflightSubject::Model,
                None,
            ),
            (
                key,
                json!({ "workspace": missing }),
                PreflightSubject::Folder,
                Some(&missing),
            ),
            (
                key,
                json!({ "workspace": picture }),
                PreflightSubject::Folder,
                Some(&picture),
            ),
            (
                key,
                json!({ "attachments": [missing] }),
                PreflightSubject::Attachment,
                Some(&missing),
            ),
            (
                key,
                json!({ "attachments": [picture] }),
                PreflightSubject::Attachment,
                Some(&picture),
            ),
            (priced.as_str(), json!({}), PreflightSubject::Limits, None),
            (key, json!({ "task": " " }), PreflightSubject::Task, None),
            (
                key,
                json!({ "task": "x".repeat(200_001) }),
                PreflightSubject::Task,
                None,
            ),
        ];
        for (settings, request, about, path) in cases {
            let english = told("en", settings, ask(request.clone())).await;
            let chinese = told("zh-Hans", settings, ask(request)).await;
            assert_eq!(english[0].about, about, "{english:?}");
            assert_eq!(
                english[0].path,
                path.map(|path| path.display().to_string()),
                "{english:?}"
            );
            for problem in [&english[0], &chinese[0]] {
                let said = format!(
                    "{} {}",
                    problem.message,
                    problem.hint.as_deref().unwrap_or("")
                );
                for command in ["--", "openspace ", "OPENSPACE_", "preflight.", "`", "…"] {
                    assert!(!said.contains(command), "{said}");
                }
            }
            let han = |text: &str| {
                text.chars()
                    .any(|it| ('\u{4e00}'..'\u{9fff}').contains(&it))
            };
            assert!(!han(&english[0].message), "{english:?}");
            assert!(han(&chinese[0].message), "{chinese:?}");
            assert!(chinese[0].hint.as_deref().is_some_and(han), "{chinese:?}");
        }
    }
}
