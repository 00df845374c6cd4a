//! The main window makes way for a run that controls its monitor, and comes back afterwards.

use std::time::{Duration, Instant};

use openspace_store::RunStatus;

use super::{Area, Desk};
use crate::{ControlFrame, rpc::desktop::Overview};

/// So long it is announced that a run takes control: the window is gone when the run begins to act,
/// half a second later.
const ANNOUNCED: Duration = Duration::from_secs(1);
/// A window manager that has not minimised it by then does not.
const OBEYED: Duration = Duration::from_secs(2);

/// Where the main window is, and for which run.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Aside {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// No run has control.
    Free,
    /// It was asked to go, then.
    Going(String, Instant),
    /// It went.
    Gone(String),
    /// It was brought back to answer a question of the run.
    Answers(String),
    /// It stays where it is: it was in nobody's way, or the person brought it back.
    Stays(String),
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Conduct {
    /// It presses and types when it wants to.
    Acts,
    /// It waits for an answer, and goes on with it.
    Asks,
    /// It is over, or waits until the person lets it go on.
    Rests,
}

impl From<Option<RunStatus>> for Conduct {
    fn from(status: Option<RunStatus>) -> Self {
        match status {
            Some(RunStatus::Planning | RunStatus::Running) => Self::Acts,
            Some(RunStatus::NeedsApproval) => Self::Asks,
            _ => Self::Rests,
        }
    }
}

/// What the window is to do.
#[derive(Debug, PartialEq)]
pub(super) enum Move {
    Aside,
    Back,
}

/// The run in control, and for how long it has been.
pub(super) type Control<'a> = Option<(&'a str, Duration)>;

impl Aside {
    /// What follows from what is so now. `conduct` says what a run does; `in_the_way` whether the
    /// window is, none where it is not seen at all.
    fn next(
        &mut self,
        control: Control<'_>,
        conduct: impl Fn(&str) -> Conduct,
        in_the_way: impl Fn() -> Option<bool>,
        now: Instant,
    ) -> Option<Move> {
        let rests = |run: &String| conduct(run) == Conduct::Rests;
        let going = |run: &str| (Self::Going(run.to_owned(), now), Some(Move::Aside));
        let (next, what) = match &*self {
            Self::Unknown => match control {
                // Whoever starts the app meanwhile wants to see it.
                Some((run, _)) => (Self::Stays(run.to_owned()), None),
                None => (Self::Free, None),
            },
            Self::Free => match control {
                Some((run, since)) if since >= ANNOUNCED && conduct(run) == Conduct::Acts => {
                    if in_the_way() == Some(true) {
                        going(run)
                    } else {
                        (Self::Stays(run.to_owned()), None)
                    }
                }
                _ => return None,
            },
            Self::Going(run, _) if rests(run) => (Self::Free, Some(Move::Back)),
            Self::Going(run, asked) => match in_the_way() {
                None => (Self::Gone(run.clone()), None),
                Some(_) if now.saturating_duration_since(*asked) > OBEYED => {
                    (Self::Stays(run.clone()), None)
                }
                Some(_) => return None,
            },
            Self::Gone(run) => match (conduct(run), in_the_way()) {
                (Conduct::Rests, None) => (Self::Free, Some(Move::Back)),
                (Conduct::Rests, Some(_)) => (Self::Free, None),
                (Conduct::Asks, Some(_)) => (Self::Answers(run.clone()), None),
                (Conduct::Acts, Some(_)) => (Self::Stays(run.clone()), None),
                (_, None) => return None,
            },
            Self::Answers(run) => match (conduct(run), in_the_way()) {
                (Conduct::Rests, _) => (Self::Free, None),
                (_, None) => (Self::Gone(run.clone()), None),
                (Conduct::Acts, Some(true)) => going(run),
                (Conduct::Acts, Some(false)) => (Self::Stays(run.clone()), None),
                (Conduct::Asks, Some(_)) => return None,
            },
            Self::Stays(run) if rests(run) => (Self::Free, None),
            Self::Stays(_) => return None,
        };
        *self = next;
        what
    }
}

impl Desk {
    /// Minimises the main window before a run in control acts on its monitor, and brings it back when
    /// that run has ended or waits for the person.
    pub(super) fn make_way(
        &self,
        aside: &mut Aside,
        control: Control<'_>,
        overview: &Overview,
        frame: Option<&ControlFrame>,
        now: Instant,
    ) {
        let conduct = |id: &str| {
            let run = overview.going.iter().find(|run| run.id == id);
            Conduct::from(run.map(|run| run.status))
        };
        let in_the_way = || {
            let window = self.face.seen()?;
            // Where the monitor is not known, it may be any.
            let on_it = frame.is_none_or(|frame| window.meets(Area::from(frame.monitor)));
            Some(on_it && self.app().values().desktop.step_aside)
        };
        match aside.next(control, conduct, in_the_way, now) {
            Some(Move::Aside) => self.face.minimise(true),
            Some(Move::Back) => self.face.minimise(false),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::double::{Seat, seat},
        rpc::desktop::tests::run,
    };

    /// Run in control, for how long, what it does, and whether the window is in the way.
    type Seen = (Control<'static>, Conduct, Option<bool>);

    /// Goes through what is so, one after another.
    fn moves(seen: &[Seen]) -> Vec<Option<Move>> {
        let (mut aside, start) = (Aside::default(), Instant::now());
        let next = |(index, (control, conduct, window)): (usize, &Seen)| {
            let now = start + Duration::from_secs(index as u64);
            aside.next(*control, |_| *conduct, || *window, now)
        };
        seen.iter().enumerate().map(next).collect()
    }

    const BEGUN: Control<'static> = Some(("a", Duration::ZERO));
    const ACTS: Control<'static> = Some(("a", ANNOUNCED));
    const IN_THE_WAY: Option<bool> = Some(true);
    const BESIDE: Option<bool> = Some(false);

    /// It goes when that was announced and comes back when the run is over, not in between.
    #[test]
    fn it_goes_and_comes_back() {
        let told = moves(&[
            (None, Conduct::Rests, IN_THE_WAY),
            (BEGUN, Conduct::Acts, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
            (ACTS, Conduct::Acts, None),
            (None, Conduct::Acts, None),
            (ACTS, Conduct::Acts, None),
            (ACTS, Conduct::Rests, None),
            (ACTS, Conduct::Rests, IN_THE_WAY),
            (None, Conduct::Rests, IN_THE_WAY),
        ]);
        let mut wanted: Vec<Option<Move>> = (0..9).map(|_| None).collect();
        wanted[2] = Some(Move::Aside);
        wanted[6] = Some(Move::Back);
        assert_eq!(told, wanted);
    }

    /// A run that is handed back to takes the monitor again.
    #[test]
    fn it_goes_again_for_whoever_is_handed_back_to() {
        let told = moves(&[
            (None, Conduct::Rests, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
            (ACTS, Conduct::Rests, None),
            (ACTS, Conduct::Rests, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
        ]);
        let (aside, back) = (Some(Move::Aside), Some(Move::Back));
        assert_eq!(told, [None, aside, back, None, Some(Move::Aside)]);
    }

    /// Whoever answers in the window does not keep it in the run's way; whoever brings it back in
    /// between does.
    #[test]
    fn it_goes_again_after_an_answer() {
        let begun = [
            (None, Conduct::Rests, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
            (ACTS, Conduct::Acts, None),
            (ACTS, Conduct::Asks, None),
        ];
        let after = |rest: &[Seen]| moves(&[&begun, rest].concat()).split_off(begun.len());
        let answered = after(&[
            (ACTS, Conduct::Asks, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
        ]);
        assert_eq!(answered, [None, Some(Move::Aside)]);
        let on_the_pill = after(&[(ACTS, Conduct::Acts, None), (None, Conduct::Rests, None)]);
        assert_eq!(on_the_pill, [None, Some(Move::Back)]);
        let watched = after(&[
            (ACTS, Conduct::Acts, IN_THE_WAY),
            (ACTS, Conduct::Asks, IN_THE_WAY),
            (ACTS, Conduct::Acts, IN_THE_WAY),
        ]);
        assert_eq!(watched, [None, None, None]);
    }

    /// It stays where the person brought it, where it is in nobody's way, where the window manager does
    /// not minimise it, and where the app was started for it.
    #[test]
    fn it_stays_where_the_person_wants_it() {
        let stays = |seen: &[_]| moves(seen).into_iter().skip(2).all(|told| told.is_none());
        let free = (None, Conduct::Rests, IN_THE_WAY);
        let goes = (ACTS, Conduct::Acts, IN_THE_WAY);
        let gone = (ACTS, Conduct::Acts, None);
        let over = (None, Conduct::Rests, None);
        assert!(
            stays(&[free, goes, gone, goes, goes, over, over]),
            "brought back"
        );
        assert!(
            stays(&[free, goes, gone, (None, Conduct::Rests, BESIDE)]),
            "just now"
        );
        assert!(
            stays(&[free, (ACTS, Conduct::Acts, BESIDE), goes, gone, over]),
            "beside"
        );
        assert!(
            stays(&[free, (ACTS, Conduct::Acts, None), goes, gone, over]),
            "in the tray"
        );
        assert!(stays(&[goes, goes, goes, gone, over]), "started for it");
        assert_eq!(moves(&[goes, goes]), [None, None]);
        assert!(
            stays(&[free, goes, goes, goes, goes, goes, over]),
            "not minimised"
        );
    }

    /// It is minimised only with the setting, and for no run that is paused or waits for the person.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_setting_and_the_person_decide() {
        let Seat { desk, face } = seat();
        let controls = |run: crate::rpc::runs::RunSummary| Overview {
            controls: Some(run.id.clone()),
            going: vec![run],
            recent: Vec::new(),
        };
        let look = |overview: &Overview| {
            let mut aside = Aside::Free;
            desk.make_way(&mut aside, ACTS, overview, None, Instant::now());
            face.did()
        };
        let runs = controls(run("a", RunStatus::Running, &[]));
        assert_eq!(look(&runs), ["step aside"]);
        for status in [
            RunStatus::Paused,
            RunStatus::NeedsYou,
            RunStatus::NeedsApproval,
        ] {
            assert_eq!(
                look(&controls(run("a", status, &[]))),
                [""; 0],
                "{status:?}"
            );
        }
        let off = "[desktop]\nstep_aside = false\n";
        std::fs::write(&desk.app().paths.config, off).expect("written");
        desk.app().reload_settings().expect("read");
        assert_eq!(look(&runs), [""; 0]);
    }
}
