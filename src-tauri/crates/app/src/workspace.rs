//! A folder that a host named: the run works in it only after a setting, a rule or a person allowed
//! it.

use std::{path::Path, sync::Arc, time::Duration};

use openspace_grounding::{
    Action, Folders,
    policy::{Decision, Grants, Question},
};
use openspace_store::{ApprovalId, ApprovalState, Fence, NewApproval, Run, RunStatus};

use crate::{App, Code, Failure, RunSpec, failure::Result};

/// What the question is stored under, where others have the model's id of a call.
const CALL: &str = "workspace";

/// How often the answer is looked for while events cannot be read.
const LOOK: Duration = Duration::from_secs(1);

impl App {
    /// Returns once the run may work in its folder. The time that takes is nobody's but the person's.
    ///
    /// # Errors
    /// [`Code::Forbidden`] when a person or a rule said no.
    pub(crate) async fn allow_workspace(
        &self,
        fence: &Fence,
        run: &Run,
        spec: &mut RunSpec,
        scratch: &Path,
    ) -> Result<()> {
        if !spec.workspace_asked {
            return Ok(());
        }
        // Judged as a write from outside: in a folder that only this run uses.
        let outside = Folders {
            workspace: scratch.to_owned(),
            ..self.folders(spec, scratch.to_owned())
        };
        let policy = self.policy(run, spec, &Arc::new(outside))?;
        let action = Action::Write {
            path: spec.workspace.clone(),
            keeps_copy: true,
        };
        match policy.decide(&[action], &Grants::default()) {
            Decision::Allow => {}
            Decision::Deny(denied) => return Err(may_not(spec, &denied.reason)),
            Decision::Ask(question) => match self.ask_person(fence, &question).await? {
                (ApprovalState::AllowedOnce | ApprovalState::AllowedForRun, _) => {}
                (_, note) => {
                    let said = note.filter(|note| !note.trim().is_empty());
                    let reason = said.map_or_else(
                        || "the person said no".to_owned(),
                        |note| format!("the person said no: {note}"),
                    );
                    return Err(may_not(spec, &reason));
                }
            },
        }
        // Whoever goes on with the run is not asked again.
        spec.workspace_asked = false;
        let (fence, settings) = (
            fence.clone(),
            serde_json::to_value(&*spec).unwrap_or_default(),
        );
        self.store
            .call(move |db| db.runs().set_settings(&fence, &settings))
            .await?;
        Ok(())
    }

    /// Asks, and waits for the answer: its state and the person's note.
    async fn ask_person(
        &self,
        fence: &Fence,
        question: &Question,
    ) -> Result<(ApprovalState, Option<String>)> {
        let cursor = self.store.read(|db| db.events().last_id()).await?;
        let mut watch = self.store.watch(cursor)?;
        let risk = serde_json::to_value(question.risk).unwrap_or_default();
        let new = NewApproval {
            step: 0,
            call: CALL.to_owned(),
            question: serde_json::to_value(question).unwrap_or_default(),
            risk: risk.as_str().unwrap_or_default().to_owned(),
            irreversible: !question.reversible,
            editable: false,
        };
        let of_run = fence.clone();
        let id = self
            .store
            .call(move |db| {
                db.runs()
                    .set_status(&of_run, RunStatus::NeedsApproval, None)?;
                db.approvals().ask(&of_run, &new)
            })
            .await?;
        // A look that fails is no answer: the question stays open, and the next one is taken.
        loop {
            if let Some(answer) = self.answered(&id).await {
                let of_run = fence.clone();
                self.store
                    .call(move |db| db.runs().set_status(&of_run, RunStatus::Planning, None))
                    .await?;
                return Ok(answer);
            }
            if let Err(error) = watch.next().await {
                tracing::warn!(%error, "reading events while a question is open");
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    async fn answered(&self, id: &ApprovalId) -> Option<(ApprovalState, Option<String>)> {
        let id = id.clone();
        match self.store.read(move |db| db.approvals().get(&id)).await {
            Ok(approval) => {
                (approval.state != ApprovalState::Open).then_some((approval.state, approval.note))
            }
            Err(error) => {
                tracing::warn!(%error, "reading an approval");
                None
            }
        }
    }
}

fn may_not(spec: &RunSpec, reason: &str) -> Failure {
    Failure::new(
        Code::Forbidden,
        format!(
            "it may not work in `{}`: {reason}",
            spec.workspace.display()
        ),
    )
    .hint("allow the folder in the settings under `policy.folders`, or name another")
}

#[cfg(test)]
mod tests {
    use openspace_grounding::policy::{Policy, PolicyInputs};
    use openspace_store::{Answer, Decision as Reply, NewEvent, NewRun};
    use serde_json::{Value, json};

    use super::*;
    use crate::desk::double::{Seat, seat};

    /// Events that cannot be read end no question, and no run: the answer is looked for all the same.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_failed_read_answers_nothing() {
        let Seat { desk, .. } = seat();
        let app = Arc::clone(desk.app());
        let new = NewRun {
            session: None,
            text: "Tidy up".to_owned(),
            origin: "host:codex".to_owned(),
            parent: None,
            idempotency_key: None,
            limits: json!({}),
            settings: json!({}),
        };
        let owner = app.instance.id().clone();
        let claimed = app.store.call(move |db| {
            let run = db.runs().enqueue(&new)?.run;
            db.runs().claim(&run, &owner)
        });
        let fence = claimed.await.expect("stored").expect("claimed");
        let folders = Arc::new(Folders {
            workspace: app.paths.home.join("work"),
            allowed: Vec::new(),
            protected: Vec::new(),
            scratch: app.paths.home.join("scratch"),
        });
        let inputs = PolicyInputs::new(folders, app.paths.home.clone());
        let write = Action::Write {
            path: "/srv/elsewhere".into(),
            keeps_copy: true,
        };
        let Decision::Ask(question) = Policy::new(inputs).decide(&[write], &Grants::default())
        else {
            panic!("it asks");
        };
        let asking = {
            let (app, fence) = (Arc::clone(&app), fence.clone());
            tokio::spawn(async move { app.ask_person(&fence, &question).await })
        };
        let asked = loop {
            let open = app.store.read(|db| db.approvals().pending()).await;
            if let Some(question) = open.expect("readable").pop() {
                break question;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        // Nested so deeply that no reader takes it.
        let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
        let damaged = NewEvent::of_run(fence.run(), "test.damaged", deep);
        let damage = app.store.call(move |db| db.events().append(damaged));
        damage.await.expect("stored");
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!asking.is_finished(), "it still asks");
        let yes = Answer {
            decision: Reply::AllowOnce,
            edited: None,
            note: None,
        };
        let answer = app
            .store
            .call(move |db| db.approvals().answer(&asked.id, &yes, "app"));
        assert!(answer.await.expect("stored"));
        let answer = tokio::time::timeout(Duration::from_secs(20), asking).await;
        let answer = answer
            .expect("in time")
            .expect("no panic")
            .expect("no failure");
        assert_eq!(answer, (ApprovalState::AllowedOnce, None));
    }
}
