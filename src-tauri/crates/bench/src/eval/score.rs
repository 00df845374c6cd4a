//! What was right, and how it is told.

use std::{collections::BTreeMap, fmt::Write as _};

use openspace_llm::Usage;
use serde_json::{Value, json};

use super::requests::{REQUESTS, Row};

/// Under which requests are counted that the host does by itself.
const HOST: &str = "none of ours";

/// What a model did about a request.
#[derive(Debug)]
pub(super) struct Choice {
    /// Tools it called in its first reply, without prefixes.
    pub(super) calls: Vec<String>,
    pub(super) usage: Usage,
}

/// All choices of a model.
pub(super) struct Score {
    model: String,
    choices: Vec<(&'static Row, Choice)>,
}

/// Ours, as opposed to the host's own.
fn is_ours(tool: &str) -> bool {
    REQUESTS.iter().any(|row| row.right.contains(&tool))
}

/// Where the host does it by itself, none of ours may be called; else a right one, and no wrong one.
fn is_right(row: &Row, choice: &Choice) -> bool {
    let mut ours = choice.calls.iter().filter(|call| is_ours(call)).peekable();
    (ours.peek().is_some() != row.right.is_empty())
        && ours.all(|call| row.right.contains(&call.as_str()))
}

fn expected(row: &Row) -> &'static str {
    row.right.first().copied().unwrap_or(HOST)
}

/// One request as JSON.
pub(super) fn line(row: &Row, choice: &Choice) -> Value {
    json!({
        "request": row.name,
        "text": row.text,
        "right": row.right,
        "called": choice.calls,
        "hit": is_right(row, choice),
    })
}

impl Score {
    pub(super) fn new(model: String) -> Self {
        Self {
            model,
            choices: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, row: &'static Row, choice: Choice) {
        self.choices.push((row, choice));
    }

    /// Hits and requests by the tool that is right.
    fn by_tool(&self) -> BTreeMap<&'static str, (usize, usize)> {
        let mut counts = BTreeMap::new();
        for (row, choice) in &self.choices {
            let (hits, all) = counts.entry(expected(row)).or_insert((0, 0));
            *hits += usize::from(is_right(row, choice));
            *all += 1;
        }
        counts
    }

    fn hits(&self) -> usize {
        self.by_tool().values().map(|(hits, _)| hits).sum()
    }

    fn missed(&self) -> impl Iterator<Item = &(&'static Row, Choice)> {
        let choices = self.choices.iter();
        choices.filter(|(row, choice)| !is_right(row, choice))
    }

    /// The last line of JSON.
    pub(super) fn summary(&self) -> Value {
        let tools = self.by_tool().into_iter();
        let tools: serde_json::Map<_, _> = tools
            .map(|(tool, (hits, all))| (tool.to_owned(), json!({ "hits": hits, "of": all })))
            .collect();
        let mut usage = Usage::default();
        for (_, choice) in &self.choices {
            usage += choice.usage;
        }
        let missed: Vec<_> = self.missed().map(|(row, _)| row.name).collect();
        json!({
            "model": self.model,
            "hits": self.hits(),
            "of": self.choices.len(),
            "byTool": tools,
            "missed": missed,
            "tokens": usage.total(),
        })
    }

    /// The same for people.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{}: {} of {}\n",
            self.model,
            self.hits(),
            self.choices.len()
        );
        for (tool, (hits, all)) in self.by_tool() {
            let _ = writeln!(text, "  {tool:<14} {hits:>2} of {all:>2}");
        }
        for (row, choice) in self.missed() {
            let called = if choice.calls.is_empty() {
                "nothing".to_owned()
            } else {
                choice.calls.join(", ")
            };
            let _ = writeln!(
                text,
                "missed: {}: {called} instead of {}\n  {}",
                row.name,
                expected(row),
                row.text
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(name: &str, calls: &[&str]) -> (&'static Row, Choice) {
        let row = REQUESTS.iter().find(|row| row.name == name).expect(name);
        let choice = Choice {
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
            usage: Usage::default(),
        };
        (row, choice)
    }

    /// The host's own tools are free, wrong ones of ours are not, and two right ones are right.
    #[test]
    fn a_choice_is_judged_by_our_tools() {
        for (name, calls, right) in [
            ("screen", &["execute_task"] as &[&str], true),
            ("screen", &["bash", "execute_task"], true),
            ("screen", &["bash"], false),
            ("screen", &[], false),
            ("screen", &["execute_task", "search_skills"], false),
            ("waiting in Chinese", &["task_status", "task_wait"], true),
            ("rename", &["edit", "bash"], true),
            ("rename", &[], true),
            ("rename", &["execute_task"], false),
            ("a word", &[], true),
        ] {
            let (row, choice) = called(name, calls);
            assert_eq!(is_right(row, &choice), right, "{name}: {calls:?}");
        }
    }

    /// Hits are counted overall and by tool, and what was missed is named with what was done instead.
    #[test]
    fn what_was_missed_is_named() {
        let mut score = Score::new("a/b".to_owned());
        for (name, calls) in [
            ("screen", &["execute_task"] as &[&str]),
            ("dialog", &["bash"]),
            ("a word", &["search_skills"]),
        ] {
            let (row, choice) = called(name, calls);
            score.add(row, choice);
        }
        let summary = score.summary();
        assert_eq!((&summary["hits"], &summary["of"]), (&json!(1), &json!(3)));
        assert_eq!(
            summary["byTool"],
            json!({
                "execute_task": { "hits": 1, "of": 2 },
                HOST: { "hits": 0, "of": 1 },
            })
        );
        assert_eq!(summary["missed"], json!(["dialog", "a word"]));
        let table = score.table();
        assert!(table.starts_with("a/b: 1 of 3\n"), "{table}");
        assert!(
            table.contains("dialog: bash instead of execute_task"),
            "{table}"
        );
        assert!(
            table.contains("a word: search_skills instead of none of ours"),
            "{table}"
        );
    }
}
