//! Answering questions, and who may.

use openspace_store::{Answer, Approval, Decision, RunStatus};

use crate::{App, Code, Failure, control::holders, failure::Result};

impl App {
    /// The open questions, oldest first.
    pub async fn open_questions(&self) -> Result<Vec<Approval>> {
        self.store.call(|db| db.runs().mark_orphans()).await?;
        Ok(self.store.read(|db| db.approvals().pending()).await?)
    }

    /// The question whose id begins like this, as it really is: that of a run whose process is gone
    /// is withdrawn.
    pub async fn find_question(&self, prefix: &str) -> Result<Approval> {
        let prefix = prefix.to_owned();
        self.store.call(|db| db.runs().mark_orphans()).await?;
        Ok(self
            .store
            .read(move |db| db.approvals().find(&prefix))
            .await?)
    }

    /// Answers a question from a terminal. True when this was the first answer.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for whoever was started by a run, and while another run moves the mouse:
    /// it might be typing the answer.
    pub async fn answer_on_terminal(
        &self,
        approval: &Approval,
        decision: Decision,
        note: Option<String>,
    ) -> Result<bool> {
        self.refuse_runs("answer questions")?;
        if decision != Decision::Deny {
            self.refuse_while_controlled(Some(approval)).await?;
        }
        let answer = Answer {
            decision,
            edited: None,
            note,
        };
        self.answer(approval, answer, "terminal").await
    }

    /// Answers a question. True when this was the first answer. Whoever calls has made sure that a
    /// person gives it.
    pub(crate) async fn answer(
        &self,
        approval: &Approval,
        answer: Answer,
        by: &str,
    ) -> Result<bool> {
        let (id, by) = (approval.id.clone(), by.to_owned());
        Ok(self
            .store
            .call(move |db| db.approvals().answer(&id, &answer, &by))
            .await?)
    }

    /// Refuses what only a person may do while a run moves the mouse: it might be doing it.
    pub(crate) async fn refuse_while_controlled(&self, approval: Option<&Approval>) -> Result<()> {
        for holder in holders(&self.paths.runtime) {
            if approval.is_some_and(|approval| approval.run == holder) {
                // It waits for this very answer, and calls that move the mouse run alone.
                continue;
            }
            let run = holder.clone();
            let status = self
                .store
                .read(move |db| db.runs().get(&run))
                .await
                .map(|run| run.status);
            if matches!(status, Ok(RunStatus::Running | RunStatus::Planning)) {
                return Err(Failure::new(
                    Code::Forbidden,
                    format!("run {holder} is moving the mouse and could be typing this answer"),
                )
                .hint(format!("pause or stop it first: openspace stop {holder}")));
            }
        }
        Ok(())
    }
}
