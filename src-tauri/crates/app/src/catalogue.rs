//! Sentences for people, from the one catalogue that the window, the tray and the terminal share.

use std::{borrow::Cow, collections::BTreeMap};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

const ENGLISH: &str = include_str!("../../../../ui/messages/en.json");
const SIMPLIFIED_CHINESE: &str = include_str!("../../../../ui/messages/zh-Hans.json");

/// A language the program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English
    English,
    /// 简体中文
    SimplifiedChinese,
}

impl Language {
    /// Its name in settings and file names.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::SimplifiedChinese => "zh-Hans",
        }
    }

    /// The language of a locale name such as `zh_CN.UTF-8` or `en`; English where we speak no other.
    pub fn of_locale(locale: &str) -> Self {
        let lower = locale.to_ascii_lowercase();
        let simplified = !lower.contains("tw") && !lower.contains("hk") && !lower.contains("hant");
        if lower.starts_with("zh") && simplified {
            Self::SimplifiedChinese
        } else {
            Self::English
        }
    }
}

/// The sentences of one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    language: Language,
    sentences: BTreeMap<&'static str, Sentence>,
}

/// A part of the built-in text, copied only where it is written with escapes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Sentence(#[serde(borrow)] Cow<'static, str>);

impl Catalogue {
    /// Reads the built-in sentences of a language.
    pub fn load(language: Language) -> anyhow::Result<Self> {
        let text = match language {
            Language::English => ENGLISH,
            Language::SimplifiedChinese => SIMPLIFIED_CHINESE,
        };
        let sentences = serde_json::from_str(text).context("reading the built-in sentences")?;
        Ok(Self {
            language,
            sentences,
        })
    }

    /// Whose sentences these are.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether there is a sentence for `key`, in one form or in one for each number.
    pub fn has(&self, key: &str) -> bool {
        self.sentences.contains_key(key)
            || self.sentences.contains_key(format!("{key}.other").as_str())
    }

    /// The template for `key`. What counts something has `key.one` and `key.other` instead, and the
    /// parameter `count` chooses; Chinese has no singular.
    fn template(&self, key: &str, parameters: &[(&str, &str)]) -> Option<&str> {
        let found = self.sentences.get(key).or_else(|| {
            let (_, count) = parameters.iter().find(|(name, _)| *name == "count")?;
            let form = match self.language {
                Language::English if *count == "1" => "one",
                Language::English | Language::SimplifiedChinese => "other",
            };
            self.sentences.get(format!("{key}.{form}").as_str())
        });
        found.map(|sentence| sentence.0.as_ref())
    }

    /// The sentence for `key` with `{name}` replaced by the parameters' values, in the number that
    /// `count` asks for. A key without a sentence is shown as it is, so that nothing is hidden.
    pub fn render(&self, key: &str, parameters: &[(&str, &str)]) -> String {
        let Some(template) = self.template(key, parameters) else {
            return key.to_owned();
        };
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                text.push('{');
                rest = after;
                continue;
            };
            let value = parameters
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value);
            text.push_str(value.unwrap_or("…"));
            rest = behind;
        }
        text.push_str(rest);
        text
    }

    /// One line about a tool call: what it does, with the arguments that matter.
    pub fn call(&self, tool: &str, arguments: &Value) -> String {
        let action = arguments.get("action").and_then(Value::as_str);
        let with_action = action.map(|action| format!("tool.{tool}.{action}"));
        let plain = format!("tool.{tool}");
        let key = match with_action {
            Some(key) if self.has(&key) => key,
            _ if self.has(&plain) => plain,
            _ => "tool.other".to_owned(),
        };
        let mut values: Vec<(String, String)> = vec![("tool".to_owned(), tool.to_owned())];
        if let Some(object) = arguments.as_object() {
            values.extend(
                object
                    .iter()
                    .map(|(key, value)| (key.clone(), short(value))),
            );
        }
        let actions = arguments.get("actions").and_then(Value::as_array);
        // Always there, because it chooses the number; in front, so that no argument of the model's
        // takes its place.
        let count = actions.map_or(0, Vec::len).to_string();
        values.insert(0, ("count".to_owned(), count));
        let parameters: Vec<(&str, &str)> = values
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        self.render(&key, &parameters)
    }
}

/// A value on one line of at most 120 characters.
fn short(value: &Value) -> String {
    const MOST: usize = 120;
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_number) => items
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    };
    let line = text.replace('\n', "⏎");
    if line.chars().count() > MOST {
        line.chars().take(MOST - 1).chain(['…']).collect()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn english() -> Catalogue {
        Catalogue::load(Language::English).expect("built in")
    }

    #[test]
    fn every_language_says_the_same_things_with_the_same_parameters() {
        let chinese = Catalogue::load(Language::SimplifiedChinese).expect("built in");
        let names = |text: &str| {
            let mut names: Vec<_> = text
                .split('{')
                .skip(1)
                .filter_map(|part| part.split_once('}'))
                .map(|(name, _)| name.to_owned())
                .collect();
            names.sort();
            names
        };
        let parameters = |catalogue: &Catalogue| -> Vec<_> {
            catalogue
                .sentences
                .iter()
                .map(|(key, text)| (*key, names(&text.0)))
                .collect()
        };
        assert_eq!(parameters(&english()), parameters(&chinese));
    }

    #[test]
    fn a_call_is_one_line_with_what_matters() {
        let line = english().call(
            "computer",
            &json!({"action": "left_click", "coordinate": [3, 4]}),
        );
        assert_eq!(line, "click at 3, 4");
        let line = english().call("run_command", &json!({"command": "a\nb"}));
        assert_eq!(line, "run a⏎b");
        assert_eq!(
            english().call("weather__today", &json!({})),
            "weather__today"
        );
    }

    /// One thing is one thing, in English; Chinese says it the same way for every number.
    #[test]
    fn sentences_agree_with_their_number() {
        let chinese = Catalogue::load(Language::SimplifiedChinese).expect("built in");
        let say = |catalogue: &Catalogue, key: &str, count: &str| {
            catalogue.render(key, &[("count", count)])
        };
        let english = english();
        assert_eq!(
            say(&english, "reason.no_effect", "1"),
            "1 action on the screen changed nothing"
        );
        assert_eq!(
            say(&english, "reason.no_effect", "6"),
            "6 actions on the screen in a row changed nothing"
        );
        assert_eq!(say(&english, "run.summary.steps", "1"), "1 step");
        assert_eq!(say(&english, "run.summary.steps", "0"), "0 steps");
        assert_eq!(say(&english, "run.summary.tokens", "11"), "11 tokens");
        assert_eq!(say(&chinese, "run.summary.steps", "1"), "1 步");
        assert_eq!(say(&chinese, "run.summary.steps", "2"), "2 步");
        assert_eq!(
            say(&chinese, "reason.no_effect", "6"),
            "连续 6 次屏幕操作没有产生变化"
        );
    }

    /// A batch counts its actions in both numbers, whatever else the model calls `count`.
    #[test]
    fn a_batch_counts_its_actions() {
        let batch = |catalogue: &Catalogue, actions: usize| {
            let arguments =
                json!({"actions": vec![json!({"action": "wait"}); actions], "count": 7});
            catalogue.call("computer_batch", &arguments)
        };
        let chinese = Catalogue::load(Language::SimplifiedChinese).expect("built in");
        assert_eq!(batch(&english(), 1), "1 action on the screen");
        assert_eq!(batch(&english(), 3), "3 actions on the screen");
        assert_eq!(batch(&chinese, 1), "1 个屏幕操作");
    }

    #[test]
    fn locales_choose_the_language() {
        assert_eq!(
            Language::of_locale("zh_CN.UTF-8"),
            Language::SimplifiedChinese
        );
        assert_eq!(Language::of_locale("zh_TW.UTF-8"), Language::English);
        assert_eq!(Language::of_locale("C"), Language::English);
    }
}
