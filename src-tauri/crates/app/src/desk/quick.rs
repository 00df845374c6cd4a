//! What the quick window says.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Catalogue, MARKER};

/// The system takes the focus away while a hotkey is down, so the window that the key is to close has
/// lost it for so long already.
const JUST_NOW: Duration = Duration::from_millis(300);

/// When the quick window lost the focus, and was hidden for that.
#[derive(Debug, Default)]
pub struct QuickFocus(Mutex<Option<Instant>>);

impl QuickFocus {
    /// It lost it.
    pub fn lost(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// It had the focus when its key was pressed just now; said once.
    pub fn was_there(&self, now: Instant) -> bool {
        let lost = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        lost.is_some_and(|lost| now.saturating_duration_since(lost) < JUST_NOW)
    }
}

/// Its title.
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
        "failed": text("failed"),
        "open": text("open"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    /// The key that takes the focus closes the window that had it; a later one opens it again.
    #[test]
    fn the_key_closes_what_it_took_the_focus_from() {
        let (focus, now) = (QuickFocus::default(), Instant::now());
        assert!(!focus.was_there(now));
        focus.lost(now);
        assert!(focus.was_there(now + JUST_NOW / 2));
        assert!(!focus.was_there(now + JUST_NOW / 2), "said once");
        focus.lost(now);
        assert!(
            !focus.was_there(now + JUST_NOW),
            "somebody clicked elsewhere"
        );
    }

    /// Runs know it by its title in any language, and every part of it has words.
    #[test]
    fn the_quick_window_is_marked_and_speaks() {
        for language in [Language::English, Language::SimplifiedChinese] {
            let texts = Catalogue::load(language).expect("built in");
            assert!(quick_title(&texts).starts_with(MARKER));
            let said = quick_texts(&texts);
            assert_eq!(said["language"], language.tag());
            for (name, text) in said.as_object().expect("sentences") {
                let text = text.as_str().expect("a sentence");
                assert!(!text.is_empty() && !text.starts_with("quick."), "{name}");
            }
        }
    }
}
