//! A command that a person changes before allowing it.

use std::sync::Arc;

use openspace_grounding::{
    Action, Denied, ShellCommand,
    policy::{Decision, Grants, Question, Risk},
};
use openspace_store::Approval;

use super::{
    Call, Sentence,
    answers::{ApprovalAnswerRequest, Choice, question},
    payload,
};
use crate::{Code, Failure, RunSpec, failure::Result};

payload! {
    /// Another command in the place of the one a question is about.
    pub struct ApprovalPreviewRequest {
        /// The question.
        pub approval: String,
        /// The command.
        pub command: String,
    }

    /// What the policy says about it, before anything that was allowed earlier in the run.
    pub struct ApprovalPreview {
        /// Why no answer can allow it.
        pub forbidden: Option<String>,
        /// How it would be asked about; null where it needs no permission, or can have none.
        pub reading: Option<Reading>,
    }

    /// What a question says about what is asked.
    pub struct Reading {
        /// Verb and object.
        pub title: Sentence,
        /// What else is asked at the same time.
        pub more: Vec<Sentence>,
        /// Why it is asked.
        pub reasons: Vec<Sentence>,
        /// How bad it can get.
        #[cfg_attr(test, ts(type = "\"low\" | \"medium\" | \"high\""))]
        pub risk: Risk,
        /// It can be undone.
        pub reversible: bool,
    }
}

impl Reading {
    pub(super) fn of(question: &Question) -> Self {
        let mut subjects = question
            .parts
            .iter()
            .map(|part| Sentence::of_subject(&part.subject));
        let mut reasons = Vec::new();
        for part in &question.parts {
            let reason = Sentence::of_reason(part.reason);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self {
            title: subjects
                .next()
                .unwrap_or_else(|| Sentence::new("approval.title")),
            more: subjects.collect(),
            reasons,
            risk: question.risk,
            reversible: question.reversible,
        }
    }
}

impl Call<'_> {
    pub(super) async fn approval_preview(
        &self,
        request: ApprovalPreviewRequest,
    ) -> Result<ApprovalPreview> {
        let approval = self.app.find_question(&request.approval).await?;
        let command = editable(&approval)?;
        let (forbidden, reading) = match self.judge(&approval, command, request.command).await? {
            Decision::Allow => (None, None),
            Decision::Ask(question) => (None, Some(Reading::of(&question))),
            Decision::Deny(Denied { reason }) => (Some(reason), None),
        };
        Ok(ApprovalPreview { forbidden, reading })
    }

    /// The command that an answer allows in place of the one that was asked about, if it is another.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for what no answer can allow: the question stays open.
    pub(super) async fn edited(
        &self,
        approval: &Approval,
        request: &ApprovalAnswerRequest,
    ) -> Result<Option<String>> {
        let Some(line) = &request.command else {
            return Ok(None);
        };
        let command = editable(approval)?;
        if request.choice != Some(Choice::Once) || request.rule.is_some() {
            return Err(Failure::new(
                Code::InvalidRequest,
                "another command can only be allowed once",
            ));
        }
        if *line == command.line {
            return Ok(None);
        }
        match self.judge(approval, command, line.clone()).await? {
            Decision::Allow | Decision::Ask(_) => Ok(Some(line.clone())),
            Decision::Deny(denied) => Err(Failure::new(Code::Forbidden, denied.to_string())
                .hint("the question is still open: write another command, or say no")),
        }
    }

    /// What the run's policy says about `line` in place of `command`. What was allowed in the run so
    /// far is known to the run alone, which judges once more.
    async fn judge(
        &self,
        approval: &Approval,
        command: ShellCommand,
        line: String,
    ) -> Result<Decision> {
        if line.trim().is_empty() || line.contains('\0') {
            return Err(Failure::new(
                Code::InvalidRequest,
                "the command is empty or contains a NUL character",
            ));
        }
        let run = approval.run.clone();
        let run = self.app.store.read(move |db| db.runs().get(&run)).await?;
        let spec = RunSpec::of(&run)?;
        // The run's own is made when it begins; nothing can be in this one.
        let scratch = self.app.paths.cache.join("scratch");
        let folders = Arc::new(self.app.folders(&spec, scratch));
        let policy = self.app.policy(&run, &spec, &folders)?;
        let action = Action::Command(ShellCommand { line, ..command });
        Ok(policy.decide(&[action], &Grants::default()))
    }
}

/// The command that a question is about, if another can be run in its place.
fn editable(approval: &Approval) -> Result<ShellCommand> {
    let asked = question(approval)?;
    match <[Action; 1]>::try_from(asked.actions) {
        Ok([Action::Command(command)]) if approval.editable => Ok(command),
        _ => Err(Failure::new(
            Code::InvalidRequest,
            "this question is not about a command that can be changed",
        )),
    }
}
