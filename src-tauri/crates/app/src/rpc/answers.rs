//! Questions to the person, their answers, and the rules that make questions unnecessary.

use openspace_grounding::policy::{Grant, Permission, Question, Rule, RuleScope};
use openspace_store::{Answer, Approval, ApprovalState, Decision, RuleDecision};

use super::{Call, Nothing, Sentence, choice, edits::Reading, payload};
use crate::{Action, App, Code, Failure, failure::Result};

payload! {
    /// A question to the person.
    pub struct ApprovalView {
        /// Its id.
        pub id: String,
        /// The run that asks.
        pub run: String,
        /// What that run is to do, in the person's words.
        pub task: String,
        /// Where the task came from.
        pub origin: String,
        /// The step that waits.
        pub step: u32,
        /// The model's id of the call that waits.
        pub call: String,
        /// Verb and object.
        pub title: Sentence,
        /// What else is asked at the same time.
        pub more: Vec<Sentence>,
        /// Why it is asked.
        pub reasons: Vec<Sentence>,
        /// How bad it can get.
        #[cfg_attr(test, ts(type = "\"low\" | \"medium\" | \"high\""))]
        pub risk: String,
        /// It can be undone.
        pub reversible: bool,
        /// Exactly what would happen.
        pub exactly: Vec<ExactAction>,
        /// What may be answered besides no.
        pub choices: Vec<Choice>,
        /// What `run` would allow.
        pub for_run: Vec<Sentence>,
        /// Rules that would have made the question unnecessary, the narrowest first.
        pub rules: Vec<String>,
        /// To be sent back with the answer: proves that the answer is to this very question.
        pub nonce: String,
        /// Where it stands.
        #[cfg_attr(test, ts(type = "\"open\" | \"allowed_once\" | \"allowed_for_run\" | \"denied\" | \"withdrawn\""))]
        pub state: ApprovalState,
        /// Its command may be changed before it is allowed.
        pub editable: bool,
        /// The command that was allowed in place of the one that was asked about.
        pub edited: Option<String>,
        /// What the person added.
        pub note: Option<String>,
        /// Who answered.
        pub answered_by: Option<String>,
        /// When it was asked, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub asked_at: i64,
        /// When it was answered.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub answered_at: Option<i64>,
    }

    /// One effect of a call.
    pub struct ExactAction {
        /// What it does.
        pub sentence: Sentence,
        /// The full command, path or text, to be shown as it is.
        pub verbatim: Option<String>,
        /// Text that comes from the screen and proves nothing, such as a window's title.
        pub untrusted: Option<String>,
    }

    /// Questions.
    pub struct ApprovalsListResponse {
        /// Oldest first.
        pub approvals: Vec<ApprovalView>,
    }

    /// Names a question.
    pub struct ApprovalGetRequest {
        /// Its id.
        pub approval: String,
    }

    /// Answers a question.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct ApprovalAnswerRequest {
        /// Its id.
        pub approval: String,
        /// [`ApprovalView::nonce`]
        pub nonce: String,
        /// The answer; none denies.
        pub choice: Option<Choice>,
        /// What the person wants the model to know.
        #[serde(default)]
        pub note: Option<String>,
        /// The command to be run in place of the one that was asked about, which goes with
        /// [`Choice::Once`] only.
        #[serde(default)]
        pub command: Option<String>,
        /// A rule to be made as well.
        #[serde(default)]
        pub rule: Option<String>,
    }

    /// What became of an answer.
    pub struct ApprovalAnswerResponse {
        /// It was the first answer.
        pub counted: bool,
        /// The question as it is now.
        pub approval: ApprovalView,
    }

    /// A standing rule.
    pub struct RuleView {
        /// Its id; null for one from the settings file.
        pub id: Option<String>,
        /// As a person writes it.
        pub rule: String,
        /// It allows; otherwise it forbids.
        pub allows: bool,
        /// Who made it.
        pub made_by: String,
        /// When, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub made_at: Option<i64>,
        /// In words.
        pub sentence: Sentence,
    }

    /// Rules.
    pub struct RulesListResponse {
        /// Oldest first, those of the settings file before.
        pub rules: Vec<RuleView>,
    }

    /// A rule that is being written.
    pub struct RulePreviewRequest {
        /// As a person writes it.
        pub rule: String,
    }

    /// What a rule would mean.
    pub struct RulePreview {
        /// In words.
        pub sentence: Sentence,
        /// Earlier questions, open ones too, that it would have answered alone.
        pub matches: u32,
        /// How many were looked at.
        pub of: u32,
        /// It covers everything of its kind, so the person should type it out.
        pub broad: bool,
    }

    /// Makes a rule.
    pub struct RuleAddRequest {
        /// As a person writes it.
        pub rule: String,
        /// It allows; otherwise it forbids.
        pub allows: bool,
    }

    /// Removes a rule.
    pub struct RuleRemoveRequest {
        /// Its id.
        pub id: String,
    }
}

choice! {
    /// An answer that allows.
    pub enum Choice {
        /// This time.
        Once,
        /// The same for the rest of the run.
        Run,
    }
}

impl Call<'_> {
    pub(super) async fn approvals_list(&self, _: Nothing) -> Result<ApprovalsListResponse> {
        let mut approvals = Vec::new();
        for approval in self.app.open_questions().await? {
            approvals.push(self.view(&approval).await?);
        }
        Ok(ApprovalsListResponse { approvals })
    }

    pub(super) async fn approval_get(&self, request: ApprovalGetRequest) -> Result<ApprovalView> {
        let approval = self.app.find_question(&request.approval).await?;
        self.view(&approval).await
    }

    async fn view(&self, approval: &Approval) -> Result<ApprovalView> {
        let run = approval.run.clone();
        let (text, origin) = self
            .app
            .store
            .read(move |db| {
                let run = db.runs().get(&run)?;
                Ok((db.tasks().get(&run.task)?.text, run.origin))
            })
            .await?;
        ApprovalView::new(approval, &text, &origin)
    }

    pub(super) async fn approval_answer(
        &self,
        request: ApprovalAnswerRequest,
    ) -> Result<ApprovalAnswerResponse> {
        self.app.refuse_runs("answer questions")?;
        let approval = self.app.find_question(&request.approval).await?;
        let view = self.view(&approval).await?;
        if view.nonce != request.nonce {
            return Err(Failure::new(
                Code::InvalidRequest,
                "the answer belongs to another question than the one that is open",
            )
            .hint("look at the question again"));
        }
        if let Some(choice) = request.choice
            && !view.choices.contains(&choice)
        {
            return Err(Failure::new(
                Code::InvalidRequest,
                "this can only be allowed each time anew",
            ));
        }
        let rule = request.rule.as_deref().map(parse_rule).transpose()?;
        if rule.is_some() && request.choice.is_none() {
            return Err(Failure::new(
                Code::InvalidRequest,
                "a rule that allows does not go with a no",
            ));
        }
        let decision = match request.choice {
            None => Decision::Deny,
            Some(Choice::Once) => Decision::AllowOnce,
            Some(Choice::Run) => Decision::AllowForRun,
        };
        if decision != Decision::Deny {
            self.refuse_while_controlled(Some(&approval)).await?;
        }
        let answer = Answer {
            decision,
            edited: self.edited(&approval, &request).await?,
            note: request.note,
        };
        let counted = self
            .app
            .answer(&approval, answer, self.caller.name())
            .await?;
        if counted && let Some(scope) = rule {
            self.app.make_rule(&scope, true, self.caller.name()).await?;
        }
        let approval = self.app.find_question(&request.approval).await?;
        Ok(ApprovalAnswerResponse {
            counted,
            approval: self.view(&approval).await?,
        })
    }

    pub(super) async fn rules_list(&self, _: Nothing) -> Result<RulesListResponse> {
        let values = self.app.values();
        let mut rules = Vec::new();
        for (texts, allows) in [(&values.policy.allow, true), (&values.policy.deny, false)] {
            for text in texts {
                rules.push(RuleView {
                    id: None,
                    sentence: sentence(&parse_rule(text)?, allows),
                    rule: text.clone(),
                    allows,
                    made_by: "settings".to_owned(),
                    made_at: None,
                });
            }
        }
        let rows = self.app.store.read(|db| db.rules().list()).await?;
        for row in rows {
            let allows = row.decision == RuleDecision::Allow;
            rules.push(RuleView {
                id: Some(row.id.to_string()),
                sentence: sentence(&parse_rule(&row.pattern)?, allows),
                rule: row.pattern,
                allows,
                made_by: row.created_by,
                made_at: Some(row.created_at),
            });
        }
        Ok(RulesListResponse { rules })
    }

    pub(super) async fn rule_preview(&self, request: RulePreviewRequest) -> Result<RulePreview> {
        const LOOK_AT: u32 = 500;
        let scope = parse_rule(&request.rule)?;
        let past = self
            .app
            .store
            .read(|db| db.approvals().recent(LOOK_AT))
            .await?;
        let mut preview = RulePreview {
            sentence: sentence(&scope, true),
            matches: 0,
            of: 0,
            broad: is_broad(&scope),
        };
        for approval in &past {
            let Ok(question) = question(approval) else {
                continue;
            };
            preview.of += 1;
            preview.matches += u32::from(self.app.would_not_ask(&question, &scope));
        }
        Ok(preview)
    }

    pub(super) async fn rule_add(&self, request: RuleAddRequest) -> Result<RuleView> {
        self.app.refuse_runs("make rules")?;
        let scope = parse_rule(&request.rule)?;
        self.refuse_while_controlled(None).await?;
        let id = self
            .app
            .make_rule(&scope, request.allows, self.caller.name())
            .await?;
        let rules = self.rules_list(Nothing {}).await?.rules;
        rules
            .into_iter()
            .find(|rule| rule.id.as_deref() == Some(id.as_str()))
            .ok_or_else(|| Failure::new(Code::NotFound, "the rule was removed again"))
    }

    pub(super) async fn rule_remove(&self, request: RuleRemoveRequest) -> Result<Nothing> {
        self.app.refuse_runs("remove rules")?;
        self.refuse_while_controlled(None).await?;
        let removed = self.app.store.call(move |db| {
            let rule = db.rules().find(&request.id)?;
            db.rules().remove(&rule.id)
        });
        removed.await?;
        Ok(Nothing {})
    }
}

impl App {
    async fn make_rule(&self, scope: &RuleScope, allows: bool, by: &str) -> Result<String> {
        let pattern = scope.to_string();
        let kind = pattern.split(':').next().unwrap_or_default().to_owned();
        let decision = if allows {
            RuleDecision::Allow
        } else {
            RuleDecision::Deny
        };
        let by = by.to_owned();
        let id = self
            .store
            .call(move |db| db.rules().insert(&kind, &pattern, decision, &by))
            .await?;
        Ok(id.to_string())
    }

    /// Whether nothing of a question would have been asked under a rule.
    fn would_not_ask(&self, question: &Question, scope: &RuleScope) -> bool {
        use openspace_grounding::{
            Folders,
            policy::{Decision, Grants, Policy, PolicyInputs},
        };
        let folders = Folders {
            workspace: self.paths.home.join(".nowhere"),
            allowed: Vec::new(),
            protected: Vec::new(),
            scratch: self.paths.cache.clone(),
        };
        let mut inputs = PolicyInputs::new(std::sync::Arc::new(folders), self.paths.home.clone());
        inputs.sandbox = true;
        inputs.rules = vec![Rule::allow(scope.clone())];
        let decision = Policy::new(inputs).decide(&question.actions, &Grants::default());
        decision == Decision::Allow
    }
}

pub(super) fn parse_rule(text: &str) -> Result<RuleScope> {
    text.trim()
        .parse::<Rule>()
        .map(|rule| rule.scope)
        .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))
}

fn is_broad(scope: &RuleScope) -> bool {
    match scope {
        RuleScope::Gui { app, .. } => app.is_none(),
        RuleScope::Mcp(pattern) => pattern.to_string().ends_with("/*"),
        RuleScope::Net(_) | RuleScope::Read(_) | RuleScope::Write(_) | RuleScope::Command(_) => {
            false
        }
    }
}

fn sentence(scope: &RuleScope, allows: bool) -> Sentence {
    let effect = if allows { "allow" } else { "deny" };
    let about = |key: &str| Sentence::new(format!("rule.{effect}.{key}"));
    let level = |access: &Option<openspace_grounding::Access>| {
        access.map_or("full", super::sentence::level)
    };
    match scope {
        RuleScope::Gui {
            app: Some(app),
            access,
        } => about(&format!("gui.{}", level(access))).with("app", app),
        RuleScope::Gui { app: None, access } => about(&format!("gui_any.{}", level(access))),
        RuleScope::Net(pattern) => about("net").with("host", pattern.to_string()),
        RuleScope::Read(folder) => about("read").with("folder", folder.display().to_string()),
        RuleScope::Write(folder) => about("write").with("folder", folder.display().to_string()),
        RuleScope::Mcp(pattern) => about("mcp").with("tool", pattern.to_string()),
        RuleScope::Command(words) => about("command").with("words", words.join(" ")),
    }
}

pub(super) fn question(approval: &Approval) -> Result<Question> {
    serde_json::from_value(approval.question.clone()).map_err(|error| {
        Failure::new(
            Code::Store,
            format!("question {} cannot be read: {error}", approval.id),
        )
    })
}

impl ApprovalView {
    /// A question for people, given what its run is to do and where that came from.
    pub fn new(approval: &Approval, task: &str, origin: &str) -> Result<Self> {
        let question = question(approval)?;
        let reading = Reading::of(&question);
        let for_run: Vec<&Permission> = question
            .offers
            .iter()
            .filter_map(|offer| match offer {
                Grant::Once => None,
                Grant::Run { permissions } => Some(permissions),
            })
            .flatten()
            .collect();
        let mut choices = vec![Choice::Once];
        if question
            .offers
            .iter()
            .any(|offer| matches!(offer, Grant::Run { .. }))
        {
            choices.push(Choice::Run);
        }
        Ok(Self {
            id: approval.id.to_string(),
            run: approval.run.to_string(),
            task: task.to_owned(),
            origin: origin.to_owned(),
            step: approval.step,
            call: approval.call.clone(),
            title: reading.title,
            more: reading.more,
            reasons: reading.reasons,
            risk: approval.risk.clone(),
            reversible: question.reversible,
            exactly: question.actions.iter().map(ExactAction::new).collect(),
            choices,
            for_run: for_run
                .iter()
                .map(|permission| Sentence::of_permission(permission))
                .collect(),
            // What cannot be undone is asked every time.
            rules: if question.reversible {
                rules(&for_run, &question.actions)
            } else {
                Vec::new()
            },
            nonce: nonce(approval),
            state: approval.state,
            editable: approval.editable,
            edited: approval.edited.clone(),
            note: approval.note.clone(),
            answered_by: approval.answered_by.clone(),
            asked_at: approval.asked_at,
            answered_at: approval.answered_at,
        })
    }
}

/// Differs for every question: whoever sends it back has seen this one.
fn nonce(approval: &Approval) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(approval.id.as_str().as_bytes());
    hasher.update(approval.question.to_string().as_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Standing rules that cover what is asked, the narrowest first.
fn rules(permissions: &[&Permission], actions: &[Action]) -> Vec<String> {
    let mut rules = Vec::new();
    for permission in permissions {
        match permission {
            Permission::Read { folder } => rules.push(format!("read:{}", folder.display())),
            Permission::Write { folder } => rules.push(format!("write:{}", folder.display())),
            Permission::App { app, access } => {
                rules.push(format!("gui:{app}:{}", super::sentence::level(*access)));
            }
            Permission::McpTool { server, tool } => rules.push(format!("mcp:{server}/{tool}")),
            // The hosts a command will reach are not known beforehand.
            Permission::Network => {}
        }
    }
    for action in actions {
        if let Action::Command(command) = action
            && command.sandboxed
            && !command.network
        {
            rules.push(format!("command:{}", command.line));
        }
    }
    rules.retain(|rule| rule.parse::<Rule>().is_ok());
    rules.dedup();
    rules
}

impl ExactAction {
    fn new(action: &Action) -> Self {
        let (verbatim, untrusted) = match action {
            Action::Read { path } | Action::Write { path, .. } | Action::Delete { path } => {
                (Some(path.display().to_string()), None)
            }
            Action::Command(command) => (Some(command.line.clone()), None),
            Action::Launch(launch) => {
                let mut line = launch.program.display().to_string();
                for argument in &launch.arguments {
                    line.push(' ');
                    line.push_str(argument);
                }
                (Some(line), None)
            }
            Action::Fetch { url } => (Some(url.clone()), None),
            Action::McpTool { .. } => (None, None),
            Action::Screen { app, .. } => (None, Some(app.title.clone())),
            Action::TypedCommand { app, line } => (Some(line.clone()), Some(app.title.clone())),
        };
        Self {
            sentence: Sentence::of_action(action),
            verbatim,
            untrusted: untrusted.filter(|text| !text.trim().is_empty()),
        }
    }
}
