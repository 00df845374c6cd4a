//! What the quick window says.

use serde_json::{Value, json};

use crate::{Catalogue, MARKER};

/// Its title: pictures of runs leave it out by that.
pub fn quick_title(texts: &Catalogue) -> String {
    format!("{MARKER} {}", texts.render("quick.title", &[]))
}

/// Its sentences by name, as its page takes them.
pub fn quick_texts(texts: &Catalogue) -> Value {
    let text = |part: &str| texts.render(&format!("quick.{part}"), &[]);
    json!({
        "language": texts.language().tag(),
        "title": text("title"),
        "label": text("label"),
        "keys": text("keys"),
        "starting": text("starting"),
        "open": text("open"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, control_frame::is_overlay};

    /// It is in no picture of a run in any language, and every part of it has words.
    #[test]
    fn the_quick_window_is_hidden_and_speaks() {
        for language in [Language::English, Language::SimplifiedChinese] {
            let texts = Catalogue::load(language).expect("built in");
            assert!(is_overlay(&quick_title(&texts)));
            let said = quick_texts(&texts);
            assert_eq!(said["language"], language.tag());
            for (name, text) in said.as_object().expect("sentences") {
                let text = text.as_str().expect("a sentence");
                assert!(!text.is_empty() && !text.starts_with("quick."), "{name}");
            }
        }
    }
}
