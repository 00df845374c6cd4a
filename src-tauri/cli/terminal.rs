//! The person at the terminal: what they are asked and how they answer.

mod line;
#[cfg(unix)]
#[path = "terminal/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "terminal/windows.rs"]
mod system;

use std::{io::Write as _, time::Duration};

use openspace_app::{Approval, Catalogue, Code, Decision, Failure, Grant, Question, rpc::Sentence};

use crate::output::harmless;

pub(crate) use system::Terminal;

/// What came from the terminal while it was waited for.
enum Heard {
    Nothing,
    Line(String),
    /// The person ended the input: nothing more will be typed.
    End,
    /// The terminal is gone. That is nobody's answer. A console goes with its process.
    #[cfg(unix)]
    Gone,
}

/// A question as a person reads it: the exact action, the risk, and who asks.
pub(crate) fn describe(approval: &Approval, catalogue: &Catalogue) -> Result<String, Failure> {
    let question: Question =
        serde_json::from_value(approval.question.clone()).map_err(|error| {
            Failure::new(
                Code::Store,
                format!("question {} cannot be read: {error}", approval.id),
            )
        })?;
    let mut lines = vec![format!("── {} ──", catalogue.render("approval.title", &[]))];
    for action in &question.actions {
        lines.push(harmless(&Sentence::of_action(action).render(catalogue)));
    }
    for part in &question.parts {
        let reason = Sentence::of_reason(part.reason).render(catalogue);
        lines.push(catalogue.render("approval.why", &[("reason", &reason)]));
    }
    let undo = if question.reversible {
        "approval.reversible"
    } else {
        "approval.irreversible"
    };
    lines.push(format!(
        "{} · {}",
        catalogue.render(&format!("approval.risk.{}", approval.risk), &[]),
        catalogue.render(undo, &[])
    ));
    lines.push(catalogue.render(
        "approval.asked_by",
        &[
            ("run", approval.run.as_str()),
            ("step", &approval.step.to_string()),
            ("approval", approval.id.as_str()),
        ],
    ));
    lines.dedup();
    Ok(lines.join("\n"))
}

/// Whether the same may be allowed for the rest of the run.
pub(crate) fn can_allow_for_run(approval: &Approval) -> bool {
    serde_json::from_value::<Question>(approval.question.clone()).is_ok_and(|question| {
        question
            .offers
            .iter()
            .any(|offer| matches!(offer, Grant::Run { .. }))
    })
}

/// Asks until there is an answer, or until `closed` says that it was answered elsewhere. What was
/// typed before the question could be seen is no answer to it and is thrown away.
pub(crate) fn ask(
    terminal: &mut Terminal,
    text: &str,
    offer_run: bool,
    catalogue: &Catalogue,
    closed: &dyn Fn() -> bool,
) -> std::io::Result<Option<Decision>> {
    let prompt = if offer_run {
        "approval.prompt"
    } else {
        "approval.prompt_once"
    };
    terminal.forget_typed()?;
    write!(terminal, "\n{text}\n{}: ", catalogue.render(prompt, &[]))?;
    terminal.flush()?;
    loop {
        if closed() {
            writeln!(terminal)?;
            return Ok(None);
        }
        let answer = match terminal.next_line(Duration::from_millis(100))? {
            Heard::Nothing => continue,
            Heard::Line(answer) => answer,
            Heard::End => return Ok(Some(Decision::Deny)),
            #[cfg(unix)]
            Heard::Gone => return Ok(None),
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Decision::AllowOnce)),
            "r" | "run" if offer_run => return Ok(Some(Decision::AllowForRun)),
            "n" | "no" => return Ok(Some(Decision::Deny)),
            _ => {
                write!(terminal, "{}: ", catalogue.render(prompt, &[]))?;
                terminal.flush()?;
            }
        }
    }
}
