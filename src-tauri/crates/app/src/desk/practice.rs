//! What the practice window says. It opens no store: its language is the system's.

use crate::{Catalogue, Code, Environment, Failure, Language, failure::Result};

const PARTS: [&str; 8] = [
    "title", "about", "name", "topic", "agree", "add", "list", "none",
];

/// The practice window.
#[derive(Debug, Clone, PartialEq)]
pub struct Practice {
    /// Its title.
    pub title: String,
    /// Its page.
    pub page: String,
    /// Its sentences by name, as the page takes them.
    pub texts: serde_json::Value,
}

impl Practice {
    /// In the language of the system.
    pub fn new(environment: &Environment) -> Result<Self> {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| environment.text(name));
        let language = Language::of_locale(locale.unwrap_or_default());
        let texts = Catalogue::load(language)
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        let text = |part: &str| texts.render(&format!("practice.{part}"), &[]);
        let all = PARTS.map(|part| (part.to_owned(), text(part).into()));
        Ok(Self {
            title: text("title"),
            page: format!("practice.html?lang={}", language.tag()),
            texts: serde_json::Map::from_iter(all).into(),
        })
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
        let practice = Practice::new(&environment).expect("the sentences");
        assert_eq!(practice.page, "practice.html?lang=zh-Hans");
        assert_eq!(practice.texts["title"], practice.title.as_str());
        for part in PARTS {
            let text = practice.texts[part].as_str().expect("a text");
            assert!(!text.starts_with("practice."), "{part}: {text}");
        }
    }
}
