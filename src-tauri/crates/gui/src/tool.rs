//! The tools of the screen back end.

mod answer;
mod call;
mod spec;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use openspace_grounding::{Access, Action, CallContext, Output, Permit, Tool, ToolError, ToolSpec};
use serde_json::Value;

use crate::{
    Button, GuiError, GuiSession,
    action::{self, ComputerAction, Place},
    geometry::{FrameGeometry, shortened},
    session::{Judged, covers},
    target::app_of,
};

pub(crate) use spec::specs;

/// Most actions of one batch.
pub(crate) const MOST_IN_BATCH: usize = 20;
/// Calls that were judged and not made yet: more than one only when a caller judges ahead.
const REMEMBERED: usize = 16;

/// What the tools of one back end share.
pub(crate) struct Shared {
    session: Mutex<GuiSession>,
    halts: AtomicU64,
    /// How many halts there had been when the last call began that looked.
    looked: AtomicU64,
    closed: AtomicBool,
    judged: Mutex<VecDeque<(String, Asked)>>,
    pub(crate) vision: bool,
}

/// What was judged of a call before it was permitted.
#[derive(Debug, Clone, Default)]
struct Asked {
    actions: Vec<Action>,
    /// The first action that presses something, with what its target looked like.
    first: Option<Judged>,
}

impl Shared {
    pub(crate) fn new(session: GuiSession, vision: bool) -> Self {
        Self {
            session: Mutex::new(session),
            halts: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            judged: Mutex::default(),
            vision,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, GuiSession> {
        // A panic in the middle of an action leaves nothing that the next look does not set right.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes every running call refuse its next input event.
    pub(crate) fn halt(&self) {
        self.halts.fetch_add(1, Ordering::SeqCst);
    }

    /// It was halted, and nobody has looked since: the screen may look different.
    fn is_unseen(&self) -> bool {
        self.halts.load(Ordering::SeqCst) != self.looked.load(Ordering::SeqCst)
    }

    /// A call that began after so many halts has looked.
    fn saw(&self, halts: u64) {
        self.looked.fetch_max(halts, Ordering::SeqCst);
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.halt();
    }

    fn remember(&self, call: &str, asked: Asked) {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        judged.retain(|(known, _)| known != call);
        judged.push_back((call.to_owned(), asked));
        if judged.len() > REMEMBERED {
            judged.pop_front();
        }
    }

    fn recall(&self, call: &str) -> Option<Asked> {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let index = judged.iter().position(|(known, _)| known == call)?;
        judged.remove(index).map(|(_, asked)| asked)
    }

    /// Runs something that blocks on the session.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut GuiSession) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let shared = self.clone();
        tokio::task::spawn_blocking(move || work(&mut shared.lock()))
            .await
            .map_err(|error| ToolError::Failed(format!("the action broke off: {error}")))
    }
}

/// Which of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Computer,
    Batch,
    Tree,
    ClickElement,
}

pub(crate) struct GuiTool {
    pub(crate) spec: ToolSpec,
    pub(crate) kind: Kind,
    pub(crate) shared: Arc<Shared>,
}

/// What a call asks for, and the frame its positions refer to.
#[derive(Debug, Clone)]
struct Wanted {
    actions: Vec<ComputerAction>,
    base: Option<FrameGeometry>,
}

impl Wanted {
    fn read(
        kind: Kind,
        arguments: &Value,
        vision: bool,
        unseen: bool,
        session: &mut GuiSession,
    ) -> Result<Self, GuiError> {
        let base = session.frame().map(|frame| frame.geometry.clone());
        let actions = match kind {
            Kind::Tree => Vec::new(),
            Kind::ClickElement => vec![element_click(arguments, session)?],
            Kind::Computer => vec![action::parse(arguments, session.reading())?],
            Kind::Batch => batch(arguments)?
                .iter()
                .enumerate()
                .map(|(index, arguments)| {
                    action::parse(arguments, session.reading()).map_err(|error| match error {
                        stale @ GuiError::Stale(_) => stale,
                        other => GuiError::Arguments(format!("action {}: {other}", index + 1)),
                    })
                })
                .collect::<Result<_, _>>()?,
        };
        if session.must_look() && actions.iter().any(ComputerAction::is_control) {
            return Err(GuiError::Stale(
                "this run was interrupted, and its last action may have taken effect: nothing was \
                 done now, here is the screen as it is"
                    .into(),
            ));
        }
        let controls = actions.iter().any(ComputerAction::is_control);
        if unseen && controls && !session.looks_as_before()? {
            return Err(GuiError::Stale(
                "the screen changed while this run was paused: nothing was done now, here is the \
                 screen as it is"
                    .into(),
            ));
        }
        let needs_sight = |action: &ComputerAction| {
            matches!(action.place(), Some(Place::Sent(_)))
                || matches!(
                    action,
                    ComputerAction::Screenshot { .. } | ComputerAction::Zoom { .. }
                )
        };
        if !vision && actions.iter().any(needs_sight) {
            return Err(GuiError::Arguments(
                "this model gets no pictures: use accessibility_tree and click_element".into(),
            ));
        }
        Ok(Self { actions, base })
    }
}

fn batch(arguments: &Value) -> Result<&[Value], GuiError> {
    let list = arguments
        .get("actions")
        .and_then(Value::as_array)
        .ok_or_else(|| GuiError::Arguments("`actions` is a list of computer actions".into()))?;
    if list.is_empty() || list.len() > MOST_IN_BATCH {
        return Err(GuiError::Arguments(format!(
            "`actions` holds {} actions; 1 to {MOST_IN_BATCH} are possible",
            list.len()
        )));
    }
    Ok(list)
}

fn element_click(arguments: &Value, session: &mut GuiSession) -> Result<ComputerAction, GuiError> {
    let number = arguments
        .get("id")
        .and_then(Value::as_u64)
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| {
            GuiError::Arguments("`id` is the number of an element from accessibility_tree".into())
        })?;
    let (button, times) = match arguments.get("click").and_then(Value::as_str) {
        None | Some("left") => (Button::Left, 1),
        Some("double") => (Button::Left, 2),
        Some("right") => (Button::Right, 1),
        Some("middle") => (Button::Middle, 1),
        Some(other) => {
            return Err(GuiError::Arguments(format!(
                "`click` is left, double, right or middle, not {}",
                shortened(&other.into())
            )));
        }
    };
    Ok(ComputerAction::Click {
        button,
        times,
        at: Place::Input(session.element(number)?),
        modifiers: Vec::new(),
    })
}

/// Judges all actions of a call one after the other, without doing any.
fn judge(session: &mut GuiSession, kind: Kind, wanted: &Wanted) -> Result<Asked, GuiError> {
    let mut asked = Asked::default();
    if kind == Kind::Tree {
        let app = session.front()?;
        asked.actions.push(Action::Screen {
            app,
            access: Access::Look,
        });
        return Ok(asked);
    }
    let mut pending = session.pending();
    for action in &wanted.actions {
        let judged = session.judge(action, wanted.base.as_ref(), &mut pending)?;
        for one in &judged.actions {
            if !covers(&asked.actions, one) {
                // The beginning of a line is not asked about beside the line.
                let whole = std::slice::from_ref(one);
                asked.actions.retain(|begun| !covers(whole, begun));
                asked.actions.push(one.clone());
            }
        }
        if asked.first.is_none() && action.is_control() {
            asked.first = Some(session.with_picture(judged)?);
        }
    }
    Ok(asked)
}

#[async_trait]
impl Tool for GuiTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        let (kind, vision, arguments) = (self.kind, self.shared.vision, arguments.clone());
        let unseen = self.shared.is_unseen();
        let judged = self
            .shared
            .blocking(move |session| {
                let wanted = Wanted::read(kind, &arguments, vision, unseen, session)?;
                judge(session, kind, &wanted)
            })
            .await?;
        let asked = match judged {
            Ok(asked) => asked,
            // The call itself answers this one, with a fresh picture: it only looks.
            Err(GuiError::Stale(_)) => Asked {
                actions: vec![Action::Screen {
                    app: app_of(None, false),
                    access: Access::Look,
                }],
                first: None,
            },
            Err(error) => return Err(error.into()),
        };
        let actions = asked.actions.clone();
        self.shared.remember(&context.call, asked);
        Ok(actions)
    }

    async fn call(
        &self,
        arguments: Value,
        permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        if self.shared.closed.load(Ordering::SeqCst) {
            return Err(ToolError::Unavailable("the screen was let go of".into()));
        }
        call::run(self, arguments, permit, context).await
    }
}

#[cfg(test)]
mod tests;
