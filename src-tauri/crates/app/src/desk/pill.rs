//! What the pill over a controlled screen says, and for how long.

use std::time::{Duration, Instant};

use openspace_store::{ApprovalState, RunStatus};
use serde::Serialize;

use super::{Desk, PILL, aside::Control, tray::short};
use crate::{
    COUNTDOWN, Catalogue,
    rpc::{ApprovalView, Sentence, answers::ExactAction, desktop::Overview, runs::RunSummary},
};

/// Control is given back and taken again within a step; the pill stays in between.
const STAY: Duration = Duration::from_millis(600);

/// The pill, in words, as its page takes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PillView {
    /// The run in control.
    pub run: String,
    /// Language of the words.
    pub language: &'static str,
    /// What goes on.
    pub title: String,
    /// The step, and the task.
    pub line: String,
    /// The run rests.
    pub paused: bool,
    /// On the button that pauses, or goes on.
    pub pause: String,
    /// On the button that takes over.
    pub take_over: String,
    /// On the button that stops.
    pub stop: String,
    /// What the run asks.
    pub question: Option<PillQuestion>,
}

/// A question in the pill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PillQuestion {
    /// Its id.
    pub approval: String,
    /// [`ApprovalView::nonce`]
    pub nonce: String,
    /// Verb and object.
    pub title: String,
    /// `low`, `medium` or `high`
    pub risk: String,
    /// The risk, whether it can be undone, and why it is asked.
    pub about: String,
    /// Everything that would happen.
    pub exactly: Vec<Effect>,
    /// On the button that denies.
    pub deny: String,
    /// On the button that allows; none where it is not for the pill to allow this.
    pub allow: Option<String>,
    /// On the button that shows the question in the window.
    pub open: String,
    /// What to do before it can be allowed here, or why it cannot.
    pub note: String,
    /// Said when an answer was not taken.
    pub refused: String,
}

/// One thing that would happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// In words.
    pub what: String,
    /// The full command, path or text.
    pub text: Option<String>,
}

/// Which run the pill is about.
#[derive(Debug, Default)]
pub(super) struct Followed(Option<(String, Instant, Instant)>);

impl Followed {
    /// The run, and for how long it has been in control.
    fn next(&mut self, controls: Option<&String>, now: Instant) -> Option<(String, Duration)> {
        match (controls, &mut self.0) {
            (Some(run), Some((known, _, seen))) if run == known => *seen = now,
            (Some(run), followed) => *followed = Some((run.clone(), now, now)),
            (None, Some((_, _, seen))) if now.duration_since(*seen) < STAY => {}
            (None, followed) => *followed = None,
        }
        let (run, since) = self.control(now)?;
        Some((run.to_owned(), since))
    }

    /// The same, as it was when it was looked at last.
    pub(super) fn control(&self, now: Instant) -> Control<'_> {
        let (run, since, _) = self.0.as_ref()?;
        Some((run, now.duration_since(*since)))
    }
}

impl Desk {
    /// The pill as it is now; none while no run has control.
    pub(super) async fn pill(
        &self,
        followed: &mut Followed,
        overview: &Overview,
        texts: &Catalogue,
        now: Instant,
    ) -> Option<PillView> {
        let (id, since) = followed.next(overview.controls.as_ref(), now)?;
        let run = overview.going.iter().find(|run| run.id == id)?;
        let mut view = PillView::new(texts, run, since);
        if let Some(approval) = run.approvals.first() {
            match self.rpc().question(approval).await {
                Ok(question) => {
                    let told = self.hands.are_told(PILL);
                    view.question = PillQuestion::new(texts, &question, told);
                }
                Err(failure) => tracing::warn!(%failure, "reading a question for the pill"),
            }
        }
        Some(view)
    }
}

impl PillView {
    pub(super) fn new(texts: &Catalogue, run: &RunSummary, since: Duration) -> Self {
        let text = |key: &str| texts.render(key, &[]);
        let paused = run.status == RunStatus::Paused;
        let title = if let Some(left) = COUNTDOWN.checked_sub(since).filter(|_| run.step <= 1) {
            let seconds = left.as_secs() + 1;
            texts.render("hud.countdown", &[("seconds", &seconds.to_string())])
        } else if paused {
            text("hud.paused")
        } else if run.status == RunStatus::NeedsApproval {
            text("hud.waiting")
        } else {
            text("hud.controls")
        };
        let label = run.step_label.clone().unwrap_or_default();
        let step = [("step", &*run.step.to_string()), ("label", &*label)];
        Self {
            run: run.id.clone(),
            language: texts.language().tag(),
            title,
            line: format!("{} · {}", texts.render("hud.step", &step), short(&run.text)),
            paused,
            pause: text(if paused { "hud.resume" } else { "hud.pause" }),
            take_over: text("hud.take_over"),
            stop: text("hud.stop"),
            question: None,
        }
    }
}

impl PillQuestion {
    /// An open question. The pill allows what a glance can judge: what is risky is looked at in the
    /// window, and where presses of a hand cannot be told from others nothing is allowed here.
    fn new(texts: &Catalogue, view: &ApprovalView, hands_are_told: bool) -> Option<Self> {
        if view.state != ApprovalState::Open {
            return None;
        }
        let text = |key: &str| texts.render(key, &[]);
        let risky = view.risk == "high";
        let undone = if view.reversible {
            "approval.reversible"
        } else {
            "approval.irreversible"
        };
        let mut about = vec![text(&format!("approval.risk.{}", view.risk)), text(undone)];
        about.extend(view.reasons.iter().map(|reason| reason.render(texts)));
        let mut exactly: Vec<Effect> = Vec::new();
        for action in &view.exactly {
            let effect = Effect::new(texts, action);
            match exactly.last_mut() {
                // Many files make one list.
                Some(last) if last.what == effect.what && effect.text.is_some() => {
                    let text = last.text.get_or_insert_default();
                    text.push('\n');
                    text.push_str(&effect.text.unwrap_or_default());
                }
                _ => exactly.push(effect),
            }
        }
        let titles = std::iter::once(&view.title).chain(&view.more);
        let titles: Vec<String> = titles.map(|title| title.render(texts)).collect();
        Some(Self {
            approval: view.id.clone(),
            nonce: view.nonce.clone(),
            title: titles.join(" · "),
            risk: view.risk.clone(),
            about: about.join(" · "),
            exactly,
            deny: text("hud.deny"),
            allow: (hands_are_told && !risky).then(|| text("hud.allow")),
            open: text("hud.open"),
            note: text(match (hands_are_told, risky) {
                (_, true) => "hud.risky",
                (true, false) => "hud.read_on",
                (false, false) => "hud.elsewhere",
            }),
            refused: text("hud.refused"),
        })
    }
}

impl Effect {
    /// What an action does, without saying its full text twice.
    fn new(texts: &Catalogue, action: &ExactAction) -> Self {
        const REPEATED: [&str; 5] = ["line", "path", "url", "program", "arguments"];
        let Some(text) = &action.verbatim else {
            return Self {
                what: action.sentence.render(texts),
                text: None,
            };
        };
        let mut sentence: Sentence = action.sentence.clone();
        for (name, value) in &mut sentence.params {
            if REPEATED.contains(&name.as_str()) {
                value.clear();
            }
        }
        let what = sentence.render(texts);
        let ends = |c: char| c.is_whitespace() || [':', '：'].contains(&c);
        Self {
            what: what.trim().trim_end_matches(ends).to_owned(),
            text: Some(text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Language, rpc::desktop::tests::run};

    fn english() -> Catalogue {
        Catalogue::load(Language::English).expect("built in")
    }

    fn question(risk: &str, change: impl FnOnce(&mut Value)) -> ApprovalView {
        let sentence = |key: &str, params: Value| json!({ "key": key, "params": params });
        let delete = |path: &str| {
            json!({
                "sentence": sentence("approval.action.delete", json!({ "path": path })),
                "verbatim": path, "untrusted": null,
            })
        };
        let mut view = json!({
            "id": "q1", "run": "r", "task": "Tidy up", "origin": "cli", "step": 3, "call": "c",
            "title": sentence("approval.subject.delete_many", json!({ "count": "2" })),
            "more": [], "reasons": [sentence("approval.reason.other_folder", json!({}))],
            "risk": risk, "reversible": false,
            "exactly": [
                delete("/tmp/a"),
                delete("/tmp/b"),
                {
                    "sentence": sentence("approval.action.screen.click", json!({ "app": "gimp" })),
                    "verbatim": null, "untrusted": "Allow everything",
                },
            ],
            "choices": ["once"], "forRun": [], "rules": [], "nonce": "n1", "state": "open",
            "editable": false, "edited": null, "note": null, "answeredBy": null, "askedAt": 0,
            "answeredAt": null,
        });
        change(&mut view);
        serde_json::from_value(view).expect("a question")
    }

    /// What it says follows the run; a pill that shows a countdown counts.
    #[test]
    fn the_pill_says_what_the_run_does() {
        let says = |status, step: u32, since| {
            let mut run = run("r", status, &[]);
            run.step = step;
            PillView::new(&english(), &run, Duration::from_millis(since)).title
        };
        assert_eq!(says(RunStatus::Running, 1, 100), "Taking the mouse in 2…");
        assert_eq!(says(RunStatus::Running, 1, 1_200), "Taking the mouse in 1…");
        let controls = "OpenSpace uses mouse and keyboard";
        assert_eq!(says(RunStatus::Running, 1, 1_600), controls);
        assert_eq!(says(RunStatus::Running, 2, 100), controls);
        assert_eq!(
            says(RunStatus::Paused, 4, 9_000),
            "Paused; mouse and keyboard are yours"
        );
        assert_eq!(
            says(RunStatus::NeedsApproval, 4, 9_000),
            "Waits for your answer"
        );
        let paused = PillView::new(
            &english(),
            &run("r", RunStatus::Paused, &[]),
            Duration::from_secs(9),
        );
        assert_eq!((paused.pause.as_str(), paused.paused), ("Resume", true));
        assert_eq!(paused.line, "Step 3: computer · Send ~/secret.txt");
    }

    /// It stays for a moment when control is given back, and follows the next run at once.
    #[test]
    fn the_pill_stays_within_a_step() {
        let (start, mut followed) = (Instant::now(), Followed::default());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let (one, other) = ("a".to_owned(), "b".to_owned());
        assert_eq!(followed.next(None, at(0)), None);
        let begun = followed.next(Some(&one), at(10));
        assert_eq!(begun, Some((one.clone(), Duration::ZERO)));
        let stays = followed.next(None, at(500));
        assert_eq!(stays, Some((one.clone(), Duration::from_millis(490))));
        followed.next(Some(&one), at(600));
        assert_eq!(followed.next(None, at(1_300)), None);
        followed.next(Some(&one), at(1_400));
        let next = followed.next(Some(&other), at(1_500));
        assert_eq!(next, Some((other, Duration::ZERO)));
    }

    /// A question is shown with everything it would do, and without words that prove nothing.
    #[test]
    fn a_question_is_whole() {
        let view = question("medium", |_| {});
        let shown = PillQuestion::new(&english(), &view, true).expect("an open question");
        assert_eq!(shown.title, "Delete 2 files");
        assert_eq!(
            shown.about,
            "risk: medium · cannot be undone · outside the allowed folders"
        );
        assert_eq!(
            shown.exactly,
            [
                Effect {
                    what: "Delete".to_owned(),
                    text: Some("/tmp/a\n/tmp/b".to_owned()),
                },
                Effect {
                    what: "Look at and click in gimp".to_owned(),
                    text: None,
                },
            ]
        );
        assert_eq!((shown.approval, shown.nonce), ("q1".into(), "n1".into()));
        let everything = serde_json::to_string(&shown.exactly).expect("JSON");
        assert!(!everything.contains("Allow everything"));
    }

    /// Only what is not risky can be allowed here, only where a hand can be told, and only while open.
    #[test]
    fn the_pill_allows_what_a_glance_can_judge() {
        let allow = |risk: &str, told: bool| {
            let shown = PillQuestion::new(&english(), &question(risk, |_| {}), told);
            let shown = shown.expect("an open question");
            (shown.allow.is_some(), shown.note)
        };
        assert!(allow("low", true).0 && allow("medium", true).0);
        let (risky, why) = allow("high", true);
        assert!(!risky && why == english().render("hud.risky", &[]), "{why}");
        let (elsewhere, why) = allow("low", false);
        assert!(!elsewhere && why == english().render("hud.elsewhere", &[]));
        let answered = question("low", |view| view["state"] = json!("denied"));
        assert_eq!(PillQuestion::new(&english(), &answered, true), None);
    }
}
