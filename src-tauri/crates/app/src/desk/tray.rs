//! What the menu of the tray says. On Linux a tray tells of no click, so everything is in the menu.

use crate::{
    Catalogue,
    rpc::{
        desktop::{Activity, Overview},
        runs::RunSummary,
    },
};

/// Longest name of a task in the menu, characters.
const LONGEST: usize = 40;

/// The icon and the menu.
#[derive(Debug, Clone, PartialEq)]
pub struct TrayView {
    /// What the icon stands for.
    pub activity: Activity,
    /// The menu.
    pub lines: Vec<Line>,
}

/// A line of the menu.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Something to choose.
    Item {
        /// What it does: `stop`, `run:ID`, …
        id: String,
        /// What it says.
        text: String,
        /// It can be chosen.
        enabled: bool,
    },
    /// A menu of its own.
    Below {
        /// What it says.
        text: String,
        /// Its lines.
        lines: Vec<Line>,
    },
    /// Parts the lines above from those below.
    Rule,
}

impl TrayView {
    /// Everything that is there now. `keys` are those of stop, approvals, quick and pause, empty where
    /// they do not work; `updates` says that this build can be updated.
    pub fn new(texts: &Catalogue, overview: &Overview, keys: &[String; 4], updates: bool) -> Self {
        Self {
            activity: overview.activity(),
            lines: lines(texts, overview, keys, updates),
        }
    }
}

fn lines(texts: &Catalogue, overview: &Overview, keys: &[String; 4], updates: bool) -> Vec<Line> {
    let text = |key: &str| texts.render(key, &[]);
    let item = |id: &str, text: String, enabled: bool| Line::Item {
        id: id.to_owned(),
        text,
        enabled,
    };
    // A key that does not work is not promised.
    let keyed = |key: &str, keys: &str| match keys {
        "" => text(key),
        keys => texts.render("tray.with_keys", &[("label", &text(key)), ("keys", keys)]),
    };
    let [stop, approvals, quick, pause] = keys;
    let going = overview.going.iter().any(|run| run.going);
    let count = overview.approvals();
    let waiting = match count {
        0 => text("tray.no_approvals"),
        1 => keyed("tray.approval", approvals),
        _ => texts.render("tray.approvals", &[("count", &count.to_string())]),
    };
    let paused = overview.activity() == Activity::Paused;
    let mut recent: Vec<Line> = overview
        .recent
        .iter()
        .map(|run| item(&format!("run:{}", run.id), named(texts, run), true))
        .collect();
    if recent.is_empty() {
        recent.push(item("none", text("tray.no_recent"), false));
    }
    let mut lines = vec![
        item("state", state(texts, overview), false),
        item("stop", keyed("tray.stop", stop), going),
        item(
            "pause",
            keyed(if paused { "tray.resume" } else { "tray.pause" }, pause),
            going,
        ),
        item("approvals", waiting, count > 0),
        Line::Rule,
        item("quick", keyed("tray.quick", quick), true),
        item("open", text("tray.open"), true),
        Line::Below {
            text: text("tray.recent"),
            lines: recent,
        },
        Line::Rule,
    ];
    if updates {
        lines.push(item("update", text("tray.update"), true));
    }
    lines.push(item("quit", text("tray.quit"), true));
    lines
}

/// One line about what goes on.
fn state(texts: &Catalogue, overview: &Overview) -> String {
    let controls = |run: &&RunSummary| Some(&run.id) == overview.controls.as_ref();
    let Some(run) = overview
        .going
        .iter()
        .find(controls)
        .or(overview.going.first())
    else {
        return texts.render("tray.idle", &[]);
    };
    if controls(&run) {
        let values = [
            ("task", &*short(&run.text)),
            ("step", &*run.step.to_string()),
        ];
        return texts.render("tray.controls", &values);
    }
    named(texts, run)
}

fn named(texts: &Catalogue, run: &RunSummary) -> String {
    let status = serde_json::to_value(run.status).unwrap_or_default();
    let status = format!("status.{}", status.as_str().unwrap_or_default());
    let values = [
        ("task", &*short(&run.text)),
        ("status", &*texts.render(&status, &[])),
        ("step", &*run.step.to_string()),
    ];
    texts.render("tray.run", &values)
}

/// The first words of a task, on one line.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use openspace_store::RunStatus;

    use super::*;
    use crate::{Language, rpc::desktop::tests::run};

    fn menu(overview: &Overview, keys: [&str; 4], updates: bool) -> Vec<String> {
        let texts = Catalogue::load(Language::English).expect("built in");
        let lines = lines(&texts, overview, &keys.map(str::to_owned), updates);
        let shown = |line: &Line| match line {
            Line::Item { id, text, enabled } => {
                format!("{}{id}: {text}", if *enabled { "" } else { "- " })
            }
            Line::Below { text, lines } => format!("{text} > {}", lines.len()),
            Line::Rule => "--".to_owned(),
        };
        lines.iter().map(shown).collect()
    }

    fn overview(going: Vec<RunSummary>, controls: Option<&str>) -> Overview {
        Overview {
            recent: going.clone(),
            going,
            controls: controls.map(str::to_owned),
        }
    }

    /// Nothing to stop cannot be stopped, and keys that do not work are not promised.
    #[test]
    fn an_idle_menu_offers_what_there_is() {
        let idle = overview(Vec::new(), None);
        assert_eq!(
            menu(&idle, ["Ctrl+Alt+.", "", "Ctrl+Alt+Space", ""], false),
            [
                "- state: Nothing runs",
                "- stop: Stop everything   Ctrl+Alt+.",
                "- pause: Pause all",
                "- approvals: No approvals waiting",
                "--",
                "quick: New task…   Ctrl+Alt+Space",
                "open: Open OpenSpace",
                "Recent > 1",
                "--",
                "quit: Quit",
            ]
        );
        assert!(menu(&idle, [""; 4], true).contains(&"update: Check for updates…".to_owned()));
    }

    /// The run in control is named first; questions are counted; what is paused can be resumed.
    #[test]
    fn a_busy_menu_says_what_goes_on() {
        let asks = run("a", RunStatus::NeedsApproval, &["q"]);
        let mut drives = run("b", RunStatus::Running, &["x", "y"]);
        drives.text = "Write   the\nreport about everything that happened this year".to_owned();
        let both = overview(vec![asks.clone(), drives], Some("b"));
        let lines = menu(&both, [""; 4], false);
        assert_eq!(
            lines[0],
            "- state: Write the report about everything that …: step 3, uses mouse and keyboard"
        );
        assert_eq!(lines[1], "stop: Stop everything");
        assert_eq!(lines[3], "approvals: 3 approvals waiting…");
        let one = overview(vec![asks], None);
        assert_eq!(
            menu(&one, [""; 4], false)[3],
            "approvals: 1 approval waiting…"
        );
        let paused = overview(vec![run("a", RunStatus::Paused, &[])], None);
        assert_eq!(menu(&paused, [""; 4], false)[2], "pause: Resume all");
        assert_eq!(
            menu(&paused, [""; 4], false)[0],
            "- state: Send ~/secret.txt: paused, step 3"
        );
    }
}
