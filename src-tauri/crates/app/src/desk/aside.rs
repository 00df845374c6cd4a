//! The main window makes way for a run that controls its monitor, and comes back afterwards.

use std::time::{Duration, Instant};

use openspace_agent::{Pause, Reason};
use openspace_store::RunStatus;

use super::{Area, Desk};
use crate::{
    ControlFrame,
    rpc::{desktop::Overview, runs::RunSummary},
};

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
    /// It stays where it is: it was in nobody's way, or the person brought it back.
    Stays(String),
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
    /// What follows from what is so now. `drives` says whether a run goes on by itself; `in_the_way`
    /// whether the window is, none where it is not seen at all.
    fn next(
        &mut self,
        control: Control<'_>,
        drives: impl Fn(&str) -> bool,
        in_the_way: impl Fn() -> Option<bool>,
        now: Instant,
    ) -> Option<Move> {
        let over = |run: &String| !drives(run);
        let (next, what) = match &*self {
            Self::Unknown => match control {
                // Whoever starts the app meanwhile wants to see it.
                Some((run, _)) => (Self::Stays(run.to_owned()), None),
                None => (Self::Free, None),
            },
            Self::Free => match control {
                Some((run, since)) if since >= ANNOUNCED && drives(run) => {
                    if in_the_way() == Some(true) {
                        (Self::Going(run.to_owned(), now), Some(Move::Aside))
                    } else {
                        (Self::Stays(run.to_owned()), None)
                    }
                }
                _ => return None,
            },
            Self::Going(run, _) if over(run) => (Self::Free, Some(Move::Back)),
            Self::Going(run, asked) => match in_the_way() {
                None => (Self::Gone(run.clone()), None),
                Some(_) if now.saturating_duration_since(*asked) > OBEYED => {
                    (Self::Stays(run.clone()), None)
                }
                Some(_) => return None,
            },
            Self::Gone(run) => match (over(run), in_the_way()) {
                (true, None) => (Self::Free, Some(Move::Back)),
                (true, Some(_)) => (Self::Free, None),
                (false, Some(_)) => (Self::Stays(run.clone()), None),
                (false, None) => return None,
            },
            Self::Stays(run) if over(run) => (Self::Free, None),
            Self::Stays(_) => return None,
        };
        *self = next;
        what
    }
}

impl Desk {
    /// Minimises the main window before a run in control acts on its monitor, and brings it back when
    /// that run has ended or was taken over.
    pub(super) fn make_way(
        &self,
        aside: &mut Aside,
        control: Control<'_>,
        overview: &Overview,
        frame: Option<&ControlFrame>,
        now: Instant,
    ) {
        let drives = |id: &str| {
            let run = overview.going.iter().find(|run| run.id == id);
            run.is_some_and(goes_on_by_itself)
        };
        let in_the_way = || {
            let window = self.face.seen()?;
            // Where the monitor is not known, it may be any.
            let on_it = frame.is_none_or(|frame| window.meets(Area::from(frame.monitor)));
            Some(on_it && self.app().values().desktop.step_aside)
        };
        match aside.next(control, drives, in_the_way, now) {
            Some(Move::Aside) => self.face.minimise(true),
            Some(Move::Back) => self.face.minimise(false),
            None => {}
        }
    }
}

/// Nobody took it over, and it waits for no words of the person.
fn goes_on_by_itself(run: &RunSummary) -> bool {
    let reason = run.reason.clone().map(serde_json::from_value);
    let taken_over = matches!(
        reason,
        Some(Ok(Reason::Paused {
            pause: Pause::TakeOver
        }))
    );
    run.status != RunStatus::NeedsYou && !taken_over
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::double::{Seat, seat},
        rpc::desktop::tests::run,
    };

    /// Goes through what is so, one after another: run in control, for how long, whether it drives,
    /// and whether the window is in the way.
    fn moves(seen: &[(Control<'_>, bool, Option<bool>)]) -> Vec<Option<Move>> {
        let (mut aside, start) = (Aside::default(), Instant::now());
        let next =
            |(index, (control, drives, window)): (usize, &(Control<'_>, bool, Option<bool>))| {
                let now = start + Duration::from_secs(index as u64);
                aside.next(*control, |_| *drives, || *window, now)
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
            (None, false, IN_THE_WAY),
            (BEGUN, true, IN_THE_WAY),
            (ACTS, true, IN_THE_WAY),
            (ACTS, true, None),
            (None, true, None),
            (ACTS, true, None),
            (ACTS, false, None),
            (ACTS, false, IN_THE_WAY),
            (None, false, IN_THE_WAY),
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
            (None, false, IN_THE_WAY),
            (ACTS, true, IN_THE_WAY),
            (ACTS, false, None),
            (ACTS, false, IN_THE_WAY),
            (ACTS, true, IN_THE_WAY),
        ]);
        let (aside, back) = (Some(Move::Aside), Some(Move::Back));
        assert_eq!(told, [None, aside, back, None, Some(Move::Aside)]);
    }

    /// It stays where the person brought it, where it is in nobody's way, where the window manager does
    /// not minimise it, and where the app was started for it.
    #[test]
    fn it_stays_where_the_person_wants_it() {
        let stays = |seen: &[_]| moves(seen).into_iter().skip(2).all(|told| told.is_none());
        let free = (None, false, IN_THE_WAY);
        let goes = (ACTS, true, IN_THE_WAY);
        let gone = (ACTS, true, None);
        let over = (None, false, None);
        assert!(
            stays(&[free, goes, gone, goes, goes, over, over]),
            "brought back"
        );
        assert!(
            stays(&[free, goes, gone, (None, false, BESIDE)]),
            "just now"
        );
        assert!(
            stays(&[free, (ACTS, true, BESIDE), goes, gone, over]),
            "beside"
        );
        assert!(
            stays(&[free, (ACTS, true, None), goes, gone, over]),
            "in the tray"
        );
        assert!(stays(&[goes, goes, goes, gone, over]), "started for it");
        assert_eq!(moves(&[goes, goes]), [None, None]);
        assert!(
            stays(&[free, goes, goes, goes, goes, goes, over]),
            "not minimised"
        );
    }

    /// It is minimised only with the setting, and for no run that was taken over.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_setting_and_the_person_decide() {
        let Seat { desk, face } = seat();
        let controls = |run: RunSummary| Overview {
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
        let mut taken_over = run("a", RunStatus::Paused, &[]);
        let pause = Pause::TakeOver;
        taken_over.reason = serde_json::to_value(Reason::Paused { pause }).ok();
        assert_eq!(look(&controls(taken_over)), [""; 0]);
        assert_eq!(look(&controls(run("a", RunStatus::NeedsYou, &[]))), [""; 0]);
        let off = "[desktop]\nstep_aside = false\n";
        std::fs::write(&desk.app().paths.config, off).expect("written");
        desk.app().reload_settings().expect("read");
        assert_eq!(look(&runs), [""; 0]);
    }
}
