//! What the app asks outside its pages, where a page may hang or is not there.

use crate::{Catalogue, Environment, Language};

/// A question with two answers, or something to be told where there is no other answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// What it is about.
    pub title: String,
    /// What there is to know.
    pub text: String,
    /// The answer that does something, and the one that does not.
    pub answers: Option<[String; 2]>,
    /// Something is or will be lost.
    pub grave: bool,
}

impl Ask {
    fn new(
        texts: &Catalogue,
        title: &str,
        text: &str,
        answers: Option<[&str; 2]>,
        values: &[(&str, &str)],
    ) -> Self {
        let say = |key: &str| texts.render(key, values);
        Self {
            title: say(title),
            text: say(text),
            answers: answers.map(|answers| answers.map(say)),
            grave: false,
        }
    }

    /// Whether to stop so many runs and quit.
    pub(super) fn quit(texts: &Catalogue, going: usize) -> Self {
        let (text, stop) = match going {
            1 => ("desktop.quit.one", "desktop.quit.stop_one"),
            _ => ("desktop.quit.many", "desktop.quit.stop_many"),
        };
        let answers = [stop, "desktop.quit.keep"];
        let values = [("count", &*going.to_string())];
        Self {
            grave: true,
            ..Self::new(texts, "desktop.quit.title", text, Some(answers), &values)
        }
    }

    /// Whether to stop so many runs and start anew.
    pub(super) fn restart(texts: &Catalogue, going: usize) -> Self {
        let (text, stop) = match going {
            1 => ("desktop.quit.one", "desktop.restart.stop_one"),
            _ => ("desktop.quit.many", "desktop.restart.stop_many"),
        };
        let answers = [stop, "desktop.restart.later"];
        let values = [("count", &*going.to_string())];
        Self {
            grave: true,
            ..Self::new(texts, "desktop.restart.title", text, Some(answers), &values)
        }
    }

    /// Whether to start again with safe graphics.
    #[cfg(target_os = "linux")]
    pub(super) fn safe_graphics(texts: &Catalogue) -> Self {
        let (title, text) = ("desktop.paint.title", "desktop.paint.text");
        let answers = ["desktop.paint.safe", "desktop.paint.wait"];
        Self::new(texts, title, text, Some(answers), &[])
    }

    /// Whether to install a version.
    pub fn install(texts: &Catalogue, version: &str) -> Self {
        let (title, text) = ("desktop.update.title", "desktop.update.found");
        let answers = ["desktop.update.install", "desktop.update.later"];
        Self::new(texts, title, text, Some(answers), &[("version", version)])
    }

    /// There is nothing newer.
    pub fn newest(texts: &Catalogue, version: &str) -> Self {
        let (title, text) = ("desktop.update.title", "desktop.update.none");
        Self::new(texts, title, text, None, &[("version", version)])
    }

    /// Looking for updates went wrong.
    pub fn no_update(texts: &Catalogue, reason: &str) -> Self {
        let (title, text) = ("desktop.update.title", "desktop.update.failed");
        Self::new(texts, title, text, None, &[("reason", reason)])
    }
}

/// Why nothing can be opened. The settings may be what is wrong, so the language is the system's.
pub fn cannot_start(environment: &Environment, failure: &crate::Failure) -> Ask {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| environment.text(name));
    let language = Language::of_locale(locale.unwrap_or_default());
    let title = Catalogue::load(language).map_or_else(
        |_| "OpenSpace".to_owned(),
        |texts| texts.render("desktop.failed.title", &[]),
    );
    let hint = failure.hint.as_deref().unwrap_or_default();
    Ask {
        title,
        text: format!("{failure}\n\n{hint}").trim_end().to_owned(),
        answers: None,
        grave: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Failure};

    fn english() -> Catalogue {
        Catalogue::load(Language::English).expect("built in")
    }

    /// What would be stopped is counted, in words that fit the number.
    #[test]
    fn quitting_says_what_it_stops() {
        let one = Ask::quit(&english(), 1);
        assert_eq!(one.text, "1 run is still going.");
        let keep = "Keep running in the tray".to_owned();
        assert_eq!(
            one.answers,
            Some(["Stop 1 run and quit".to_owned(), keep.clone()])
        );
        let two = Ask::quit(&english(), 2);
        assert_eq!(two.text, "2 runs are still going.");
        assert_eq!(two.answers, Some(["Stop 2 runs and quit".to_owned(), keep]));
    }

    /// Every question has its sentences, with the values in them.
    #[test]
    fn questions_have_words() {
        let texts = english();
        for ask in [
            #[cfg(target_os = "linux")]
            Ask::safe_graphics(&texts),
            Ask::restart(&texts, 1),
            Ask::restart(&texts, 3),
            Ask::install(&texts, "9.1.0"),
            Ask::newest(&texts, "9.1.0"),
            Ask::no_update(&texts, "no answer"),
        ] {
            let mut said = vec![ask.title.clone(), ask.text.clone()];
            said.extend(ask.answers.clone().into_iter().flatten());
            for text in said {
                assert!(
                    !text.starts_with("desktop.") && !text.contains('…'),
                    "{text}"
                );
            }
        }
        assert!(Ask::install(&texts, "9.1.0").text.contains("9.1.0"));
        assert!(
            Ask::no_update(&texts, "no answer")
                .text
                .contains("no answer")
        );
    }

    /// A failure is told with what to do about it, in the language of the system.
    #[test]
    fn a_failed_start_is_told() {
        let mut environment = Environment::default();
        environment.insert("LANG", "en_GB.UTF-8");
        let failure =
            Failure::new(Code::Store, "the database is too new").hint("install version 9");
        let told = cannot_start(&environment, &failure);
        assert_eq!(told.title, "OpenSpace cannot start");
        assert_eq!(told.text, "the database is too new\n\ninstall version 9");
        assert_eq!(told.answers, None);
    }
}
