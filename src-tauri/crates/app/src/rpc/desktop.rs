//! What the app shows beside its window: the state of everything, and its hotkeys.

use openspace_store::RunStatus;

use super::{
    ApprovalView, Call, Caller, Nothing, Rpc, answers::ApprovalGetRequest, choice, payload, runs,
};
use crate::{App, control::controller, failure::Result};

/// Runs shown under "recent".
const RECENT: u32 = 5;
/// Where the app keeps which hotkeys work.
const HOTKEYS: &str = "desktop.hotkeys";
/// Where it keeps which of them were heard.
const HEARD: &str = "desktop.hotkeys.heard";
/// Topic of the events that tell of them.
const TOPIC: &str = "hotkeys";

choice! {
    /// What a hotkey does.
    pub enum HotkeyName {
        /// Stops everything.
        Stop,
        /// Shows the open questions.
        Approvals,
        /// Begins a new task.
        Quick,
        /// Pauses everything.
        Pause,
    }

    /// Whether a hotkey works.
    pub enum HotkeyState {
        /// It works.
        Active,
        /// The system refused it, mostly because another program has it.
        Refused,
        /// The settings want none.
        Off,
        /// This session has no hotkeys of programs.
        Unsupported,
        /// The app does not run, so nobody listens.
        AppClosed,
    }
}

payload! {
    /// One hotkey.
    pub struct Hotkey {
        /// What it does.
        pub name: HotkeyName,
        /// Its keys as the settings say, such as `ctrl+alt+period`.
        pub keys: String,
        /// Whether it works.
        pub state: HotkeyState,
        /// What the system said, where it refused.
        pub reason: Option<String>,
        /// When these keys were heard last, Unix milliseconds: the proof that they work.
        #[serde(default)]
        #[cfg_attr(test, ts(type = "number | null"))]
        pub heard_at: Option<i64>,
    }

    /// All hotkeys.
    pub struct HotkeysListResponse {
        /// In a fixed order.
        pub hotkeys: Vec<Hotkey>,
    }
}

/// What the icon in the tray stands for; the most urgent thing wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing runs.
    Idle,
    /// Something runs.
    Running,
    /// Everything that runs is paused.
    Paused,
    /// A run moves the person's mouse.
    Controlling,
    /// A run waits for the person.
    NeedsYou,
}

/// Everything at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Runs that go on by themselves or when somebody answers, newest first.
    pub going: Vec<runs::RunSummary>,
    /// The newest runs, whatever became of them.
    pub recent: Vec<runs::RunSummary>,
    /// The run that moves the mouse of the person's display.
    pub controls: Option<String>,
}

impl Overview {
    /// The most urgent thing.
    pub fn activity(&self) -> Activity {
        let waits = |run: &runs::RunSummary| {
            matches!(run.status, RunStatus::NeedsApproval | RunStatus::NeedsYou)
        };
        if self.going.iter().any(waits) {
            Activity::NeedsYou
        } else if self.controls.is_some() {
            Activity::Controlling
        } else if self.going.is_empty() {
            Activity::Idle
        } else if self.going.iter().all(|run| run.status == RunStatus::Paused) {
            Activity::Paused
        } else {
            Activity::Running
        }
    }

    /// Questions that wait for an answer.
    pub fn approvals(&self) -> usize {
        self.going.iter().map(|run| run.approvals.len()).sum()
    }
}

impl Rpc {
    fn of_a_window(&self) -> Call<'_> {
        Call {
            app: &self.app,
            guards: &self.guards,
            caller: Caller::Window,
        }
    }

    /// Everything at a glance.
    pub async fn overview(&self) -> Result<Overview> {
        let call = self.of_a_window();
        let list = |statuses, limit| runs::RunsListRequest {
            statuses,
            containing: None,
            origin: None,
            session: None,
            before: None,
            limit,
        };
        let active = RunStatus::ALL
            .iter()
            .copied()
            .filter(|status| *status == RunStatus::Queued || status.is_active());
        let going = call.runs_list(list(active.collect(), None)).await?.runs;
        let recent = call.runs_list(list(Vec::new(), Some(RECENT))).await?.runs;
        let display = self.app.desktop.display();
        let controls = display.and_then(|display| controller(&self.app.paths.runtime, display));
        Ok(Overview {
            going,
            recent,
            controls: controls.map(|run| run.to_string()),
        })
    }

    /// The hotkeys, and whether each works.
    pub async fn hotkeys(&self) -> Result<Vec<Hotkey>> {
        self.app.hotkeys_now().await
    }

    /// A question as it is now.
    pub async fn question(&self, approval: &str) -> Result<ApprovalView> {
        let approval = approval.to_owned();
        let request = ApprovalGetRequest { approval };
        self.of_a_window().approval_get(request).await
    }

    /// Some runs as they are now.
    pub async fn runs(&self, runs: Vec<String>) -> Result<Vec<runs::RunSummary>> {
        let call = self.of_a_window();
        Ok(call.runs_get(runs::RunsGetRequest { runs }).await?.runs)
    }
}

impl App {
    /// The hotkeys of the settings.
    pub fn hotkeys(&self) -> [(HotkeyName, String); 4] {
        let values = self.values();
        let keys = &values.desktop;
        [
            (HotkeyName::Stop, keys.hotkey_stop.clone()),
            (HotkeyName::Approvals, keys.hotkey_approvals.clone()),
            (HotkeyName::Quick, keys.hotkey_quick.clone()),
            (HotkeyName::Pause, keys.hotkey_pause.clone()),
        ]
    }

    /// Keeps which of the hotkeys work in this process, for every surface that shows them.
    pub async fn report_hotkeys(&self, hotkeys: &[Hotkey]) -> Result<()> {
        let value = serde_json::json!({ "instance": self.instance.id(), "hotkeys": hotkeys });
        let set = move |db: &openspace_store::Db<'_>| {
            db.ui_state().set(HOTKEYS, Some(&value))?;
            db.events().append(told("all", "hotkeys.registered"))
        };
        self.store.call(set).await?;
        Ok(())
    }

    /// Keeps that a hotkey was pressed, and tells every surface.
    pub async fn hear_hotkey(&self, name: HotkeyName) -> Result<()> {
        let hotkeys = self.hotkeys();
        let Some((_, keys)) = hotkeys.into_iter().find(|(known, _)| *known == name) else {
            return Ok(());
        };
        let at = jiff::Timestamp::now().as_millisecond();
        let heard = Heard { name, keys, at };
        let keep = move |db: &openspace_store::Db<'_>| {
            let mut all = heard_of(db)?;
            all.retain(|other| other.name != heard.name);
            all.push(heard.clone());
            db.ui_state().set(HEARD, Some(&serde_json::json!(all)))?;
            db.events().append(told(heard.name.id(), "hotkeys.heard"))
        };
        self.store.call(keep).await?;
        Ok(())
    }

    /// The hotkeys, and whether each works.
    pub(crate) async fn hotkeys_now(&self) -> Result<Vec<Hotkey>> {
        let (reported, heard) = self
            .store
            .read(|db| {
                let value = db.ui_state().get(HOTKEYS)?;
                // What cannot be read was written by another version, which is gone.
                let reported =
                    value.and_then(|value| serde_json::from_value::<Reported>(value).ok());
                let reported = match reported {
                    Some(reported) if db.instances().is_alive(&reported.instance)? => {
                        Some(reported.hotkeys)
                    }
                    _ => None,
                };
                Ok((reported, heard_of(db)?))
            })
            .await?;
        let closed = |(name, keys): (HotkeyName, String)| Hotkey {
            name,
            state: if keys.trim().is_empty() {
                HotkeyState::Off
            } else {
                HotkeyState::AppClosed
            },
            keys,
            reason: None,
            heard_at: None,
        };
        let mut hotkeys =
            reported.unwrap_or_else(|| self.hotkeys().into_iter().map(closed).collect());
        for hotkey in &mut hotkeys {
            // Other keys have to prove themselves anew.
            let heard = heard
                .iter()
                .find(|heard| heard.name == hotkey.name && heard.keys == hotkey.keys);
            hotkey.heard_at = heard.map(|heard| heard.at);
        }
        Ok(hotkeys)
    }
}

/// A value that only the app itself writes.
pub(super) fn is_told_by_the_app(key: &str) -> bool {
    [HOTKEYS, HEARD].contains(&key)
}

/// A hotkey that was pressed.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Heard {
    name: HotkeyName,
    keys: String,
    at: i64,
}

fn heard_of(db: &openspace_store::Db<'_>) -> openspace_store::Result<Vec<Heard>> {
    let value = db.ui_state().get(HEARD)?;
    Ok(value
        .and_then(|value| serde_json::from_value(value).ok())
        .unwrap_or_default())
}

fn told(key: &str, kind: &str) -> openspace_store::NewEvent {
    openspace_store::NewEvent {
        topic: TOPIC.to_owned(),
        key: key.to_owned(),
        kind: kind.to_owned(),
        v: 1,
        payload: serde_json::json!({}),
    }
}

impl HotkeyName {
    fn id(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Approvals => "approvals",
            Self::Quick => "quick",
            Self::Pause => "pause",
        }
    }
}

#[derive(serde::Deserialize)]
struct Reported {
    instance: openspace_store::InstanceId,
    hotkeys: Vec<Hotkey>,
}

impl Call<'_> {
    pub(super) async fn hotkeys_list(&self, _: Nothing) -> Result<HotkeysListResponse> {
        Ok(HotkeysListResponse {
            hotkeys: self.app.hotkeys_now().await?,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// A run as a list shows it.
    pub(crate) fn run(id: &str, status: RunStatus, approvals: &[&str]) -> runs::RunSummary {
        serde_json::from_value(json!({
            "id": id, "task": "t", "session": "s", "text": "Send ~/secret.txt", "origin": "cli",
            "status": status, "reason": null, "step": 3, "stepLabel": "computer", "model": "m",
            "usage": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "images": 0,
                       "total": 0, "dollars": null },
            "createdAt": 0, "startedAt": 0, "endedAt": null, "going": true, "inControl": false,
            "canContinue": false, "approvals": approvals, "answer": null,
        }))
        .expect("a summary")
    }

    /// The icon shows what a person has to know first.
    #[test]
    fn the_most_urgent_thing_is_shown() {
        let shown = |going: &[RunStatus], controls: Option<&str>| {
            let going = going.iter().map(|status| run("r", *status, &[])).collect();
            Overview {
                going,
                recent: Vec::new(),
                controls: controls.map(str::to_owned),
            }
            .activity()
        };
        assert_eq!(shown(&[], None), Activity::Idle);
        assert_eq!(shown(&[RunStatus::Queued], None), Activity::Running);
        assert_eq!(shown(&[RunStatus::Paused], None), Activity::Paused);
        let mixed = [RunStatus::Paused, RunStatus::Running];
        assert_eq!(shown(&mixed, None), Activity::Running);
        assert_eq!(shown(&mixed, Some("r")), Activity::Controlling);
        let waiting = [RunStatus::Running, RunStatus::NeedsApproval];
        assert_eq!(shown(&waiting, Some("r")), Activity::NeedsYou);
    }
}
