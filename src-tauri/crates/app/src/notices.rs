//! What a person is told while no window of ours is looked at: which events, when, and how often.
//!
//! A notice names the kind of event and never a task, a command or a path: it may appear on a locked
//! screen.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use openspace_store::RunStatus;

use crate::rpc::{desktop::Overview, runs::RunSummary};

/// So long a question may be seen in a window before it is told.
const QUESTION: Duration = Duration::from_secs(10);
/// A run shorter than this is watched until its end.
const LONG: Duration = Duration::from_secs(60);
/// More notices of one kind than this at once become one.
const MOST: usize = 3;

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A question waits.
    Approval,
    /// A run asked something or waits to be taken over.
    NeedsYou,
    /// A run ended with an answer.
    Done,
    /// A run ended without.
    Failed,
}

impl Kind {
    /// The part of its sentences' keys in the catalogue.
    pub fn key(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::NeedsYou => "needs_you",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub kind: Kind,
    /// To how many runs.
    pub count: usize,
}

/// Remembers what was told.
#[derive(Debug, Default)]
pub struct Notices {
    told: BTreeSet<(String, Kind)>,
    going: BTreeMap<String, Instant>,
    waiting: BTreeMap<String, Instant>,
}

impl Notices {
    /// Runs that went when this was asked last and do not any more.
    pub fn ended(&self, overview: &Overview) -> Vec<String> {
        let goes = |id: &&String| !overview.going.iter().any(|run| run.id == **id);
        self.going.keys().filter(goes).cloned().collect()
    }

    /// What is to be told now. `ended` are the runs of [`Notices::ended`] as they are; `looked_at`
    /// says that a window of ours has the focus.
    pub fn next(
        &mut self,
        overview: &Overview,
        ended: &[RunSummary],
        now: Instant,
        looked_at: bool,
    ) -> Vec<Notice> {
        let mut found = Vec::new();
        for run in &overview.going {
            self.going.entry(run.id.clone()).or_insert(now);
            match run.status {
                RunStatus::NeedsApproval => {
                    let since = *self.waiting.entry(run.id.clone()).or_insert(now);
                    if now.duration_since(since) >= QUESTION {
                        found.push((run.id.clone(), Kind::Approval));
                    }
                }
                RunStatus::NeedsYou => found.push((run.id.clone(), Kind::NeedsYou)),
                _ => {
                    // The next question is another one.
                    self.waiting.remove(&run.id);
                    self.told.retain(|(id, _)| *id != run.id);
                }
            }
        }
        for run in ended {
            let Some(since) = self.going.remove(&run.id) else {
                continue;
            };
            self.waiting.remove(&run.id);
            match run.status {
                RunStatus::Done if now.duration_since(since) >= LONG => {
                    found.push((run.id.clone(), Kind::Done));
                }
                RunStatus::Failed | RunStatus::LimitReached | RunStatus::Interrupted => {
                    found.push((run.id.clone(), Kind::Failed));
                }
                _ => {}
            }
        }
        let mut counts = BTreeMap::new();
        for (run, kind) in found {
            // What was seen in the window is not told later either.
            if self.told.insert((run, kind)) && !looked_at {
                *counts.entry(kind).or_insert(0_usize) += 1;
            }
        }
        let grouped = counts.into_iter().flat_map(|(kind, count)| {
            let each = if count > MOST { 1 } else { count };
            (0..each).map(move |_| Notice {
                kind,
                count: count / each,
            })
        });
        grouped.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::desktop::tests::run;

    fn overview(going: Vec<RunSummary>) -> Overview {
        Overview {
            going,
            recent: Vec::new(),
            controls: None,
        }
    }

    /// A question is told once, after ten seconds, and not while the window is looked at.
    #[test]
    fn questions_are_told_once_and_late() {
        let start = Instant::now();
        let asks = overview(vec![run("a", RunStatus::NeedsApproval, &["q"])]);
        let mut notices = Notices::default();
        assert_eq!(notices.next(&asks, &[], start, false), []);
        let told = notices.next(&asks, &[], start + QUESTION, false);
        assert_eq!(
            told,
            [Notice {
                kind: Kind::Approval,
                count: 1
            }]
        );
        assert_eq!(notices.next(&asks, &[], start + QUESTION * 2, false), []);
        // Another question of the same run is told again.
        let goes = overview(vec![run("a", RunStatus::Running, &[])]);
        assert_eq!(notices.next(&goes, &[], start + QUESTION * 3, false), []);
        assert_eq!(notices.next(&asks, &[], start + QUESTION * 4, true), []);
        assert_eq!(notices.next(&asks, &[], start + QUESTION * 5, true), []);
        assert_eq!(notices.next(&asks, &[], start + QUESTION * 6, false), []);
    }

    /// Long runs tell that they are done, short ones only that they failed.
    #[test]
    fn ends_are_told_by_how_they_came() {
        let start = Instant::now();
        let ends = |status, after| {
            let mut notices = Notices::default();
            notices.next(
                &overview(vec![run("a", RunStatus::Running, &[])]),
                &[],
                start,
                false,
            );
            let nothing = overview(Vec::new());
            assert_eq!(notices.ended(&nothing), ["a"]);
            notices.next(&nothing, &[run("a", status, &[])], start + after, false)
        };
        let second = Duration::from_secs(1);
        assert_eq!(ends(RunStatus::Done, second), []);
        assert_eq!(ends(RunStatus::Stopped, LONG), []);
        assert_eq!(
            ends(RunStatus::Done, LONG),
            [Notice {
                kind: Kind::Done,
                count: 1
            }]
        );
        assert_eq!(
            ends(RunStatus::Failed, second),
            [Notice {
                kind: Kind::Failed,
                count: 1
            }]
        );
    }

    /// More than three of a kind are told as one.
    #[test]
    fn many_become_one() {
        let runs = |count: usize| {
            let ids = (0..count).map(|id| run(&id.to_string(), RunStatus::NeedsYou, &[]));
            overview(ids.collect())
        };
        let told = |count| Notices::default().next(&runs(count), &[], Instant::now(), false);
        assert_eq!(
            told(2),
            vec![
                Notice {
                    kind: Kind::NeedsYou,
                    count: 1
                };
                2
            ]
        );
        assert_eq!(
            told(4),
            [Notice {
                kind: Kind::NeedsYou,
                count: 4
            }]
        );
    }
}
