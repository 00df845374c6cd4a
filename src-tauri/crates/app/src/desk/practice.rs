//! What the practice window says. It opens no store: its language is the system's.

use std::io::Write as _;

use crate::{Catalogue, Environment, Language};

const PARTS: [&str; 9] = [
    "title", "about", "name", "topic", "agree", "add", "list", "none", "aim",
];
/// Shows a target instead of the form, and says where it is clicked.
pub const AIMED: &str = "--target";
/// What a title begins with that says where a click arrived.
const ARRIVED: &str = "arrived:";

/// The practice window.
#[derive(Debug, Clone, PartialEq)]
pub struct Practice {
    /// Its title.
    pub title: String,
    /// Its page.
    pub page: String,
    /// Its sentences by name, as the page takes them.
    pub texts: serde_json::Value,
    /// Shows a target instead of the form.
    pub aimed: bool,
}

/// Where a click arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Pixels right of the middle of the target.
    pub x: i32,
    /// Pixels below it.
    pub y: i32,
    /// It was on the target.
    pub hit: bool,
}

impl Arrived {
    /// What the page says in its title, which is all it can say: it has no way to the program.
    pub fn parse(title: &str) -> Option<Self> {
        let mut parts = title.trim().strip_prefix(ARRIVED)?.split(',');
        let mut number = || parts.next()?.parse().ok();
        let (x, y) = (number()?, number()?);
        let hit = parts.next()? == "hit";
        Some(Self { x, y, hit })
    }
}

impl Practice {
    /// In the language of the system.
    pub fn new(environment: &Environment, arguments: &[String]) -> Result<Self, String> {
        let aimed = arguments.iter().any(|argument| argument == AIMED);
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| environment.text(name));
        let language = Language::of_locale(locale.unwrap_or_default());
        let texts = Catalogue::load(language).map_err(|error| error.to_string())?;
        let text = |part: &str| texts.render(&format!("practice.{part}"), &[]);
        let all = PARTS.map(|part| (part.to_owned(), text(part).into()));
        Ok(Self {
            title: text("title"),
            page: format!(
                "practice.html?lang={}{}",
                language.tag(),
                if aimed { "&target" } else { "" }
            ),
            texts: serde_json::Map::from_iter(all).into(),
            aimed,
        })
    }

    /// Tells whoever started the window what its page says.
    pub fn heard(&self, title: &str) {
        if self.aimed {
            let mut output = std::io::stdout().lock();
            // Whoever does not listen any more has closed the window.
            let _gone = writeln!(output, "{title}").and_then(|()| output.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every part of the page has its sentence, in the language of the system.
    #[test]
    fn the_page_is_told_everything() {
        let mut environment = Environment::default();
        environment.insert("LANG".to_owned(), "zh_CN.UTF-8".to_owned());
        let practice = Practice::new(&environment, &[]).expect("the sentences");
        assert_eq!(practice.page, "practice.html?lang=zh-Hans");
        let aimed = Practice::new(&environment, &[AIMED.to_owned()]).expect("the sentences");
        assert_eq!(aimed.page, "practice.html?lang=zh-Hans&target");
        assert_eq!(practice.texts["title"], practice.title.as_str());
        for part in PARTS {
            let text = practice.texts[part].as_str().expect("a text");
            assert!(!text.starts_with("practice."), "{part}: {text}");
        }
    }

    /// Only what the page says of a click is taken for one.
    #[test]
    fn arrivals_are_read() {
        let arrived = |x, y, hit| Some(Arrived { x, y, hit });
        assert_eq!(Arrived::parse("arrived:0,-1,hit"), arrived(0, -1, true));
        assert_eq!(
            Arrived::parse("arrived:120,7,miss\n"),
            arrived(120, 7, false)
        );
        for other in [
            "",
            "Practice window",
            "arrived:",
            "arrived:1",
            "arrived:a,b,hit",
            "arrived:1,2",
        ] {
            assert_eq!(Arrived::parse(other), None, "{other}");
        }
    }
}
