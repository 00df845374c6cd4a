//! `openspace approve` and `openspace deny`

use openspace_app::{App, Approval, ApprovalState, Code, Decision, Environment, Failure};

use crate::{
    args::{ApproveArgs, DenyArgs},
    exit::Exit,
    output,
    terminal::{self, Terminal},
};

pub(crate) async fn approve(
    arguments: ApproveArgs,
    environment: Environment,
) -> Result<Exit, Failure> {
    let app = super::open(environment, true, &[])?;
    app.refuse_runs("answer questions")?;
    let Some(id) = &arguments.id else {
        return list(&app).await;
    };
    let approval = app.find_question(id).await?;
    if approval.state != ApprovalState::Open {
        output::note(&app.catalogue.render("approval.already_answered", &[]));
        return Ok(Exit::Failed);
    }
    let text = terminal::describe(&approval, &app.catalogue)?;
    let offer_run = terminal::can_allow_for_run(&approval);
    let catalogue = app.catalogue.clone();
    let for_run = arguments.for_run;
    // The person sees the exact action and says yes here, on a terminal a program cannot pipe into.
    let decision = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::open().ok_or_else(|| {
            Failure::new(
                Code::Forbidden,
                "approving needs a terminal, so that a person sees what they allow",
            )
            .hint("run it in a terminal, or answer in the app")
        })?;
        terminal::ask(&mut terminal, &text, offer_run, &catalogue, &|| false).map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("the terminal cannot be used: {error}"),
            )
        })
    });
    let decision = match decision.await {
        Ok(decision) => decision?,
        Err(error) => return Err(Failure::new(Code::Internal, error.to_string())),
    };
    let decision = match decision {
        Some(Decision::AllowOnce) if for_run && offer_run => Decision::AllowForRun,
        Some(decision) => decision,
        // The terminal is gone before there was an answer: the question stays open.
        None => return Ok(Exit::Failed),
    };
    answer(&app, &approval, decision, None).await
}

pub(crate) async fn deny(arguments: DenyArgs, environment: Environment) -> Result<Exit, Failure> {
    let app = super::open(environment, false, &[])?;
    app.refuse_runs("answer questions")?;
    let approval = app.find_question(&arguments.id).await?;
    answer(&app, &approval, Decision::Deny, arguments.note).await
}

async fn answer(
    app: &App,
    approval: &Approval,
    decision: Decision,
    note: Option<String>,
) -> Result<Exit, Failure> {
    if !app.answer_on_terminal(approval, decision, note).await? {
        output::note(&app.catalogue.render("approval.already_answered", &[]));
        return Ok(Exit::Failed);
    }
    let key = if decision == Decision::Deny {
        "approval.denied"
    } else {
        "approval.allowed"
    };
    output::note(&app.catalogue.render(key, &[]));
    Ok(Exit::Done)
}

async fn list(app: &App) -> Result<Exit, Failure> {
    let open = app.open_questions().await?;
    if open.is_empty() {
        output::note(&app.catalogue.render("approval.none", &[]));
    }
    for approval in open {
        output::line(&terminal::describe(&approval, &app.catalogue)?);
        output::line("");
    }
    Ok(Exit::Done)
}
