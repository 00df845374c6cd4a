//! `openspace runs`

use openspace_app::{App, Environment, Failure, Outcome, Run, RunFilter, RunStatus, Words};
use serde_json::{Value, json};

use super::run::{attendance, execute};
use crate::{
    args::RunsCommand,
    exit::Exit,
    live::{Beginning, Show},
    output::{self, harmless},
    terminal::Terminal,
};

pub(crate) async fn runs(command: RunsCommand, environment: Environment) -> Result<Exit, Failure> {
    let attended = matches!(&command, RunsCommand::Continue { json, .. } if !json)
        && Terminal::open().is_some();
    let app = super::open(environment, attended, &[])?;
    match command {
        RunsCommand::List {
            limit,
            status,
            json,
        } => list(&app, limit, status.as_deref(), json).await,
        RunsCommand::Show { id, json } => show(&app, &id, json).await,
        RunsCommand::Export { id, output } => {
            let run = app.find_run(&id).await?;
            let exported = app.export(&run, &output).await?;
            output::line(&format!(
                "{} ({} events, {} pictures, {} files)",
                output.display(),
                exported.events,
                exported.frames,
                exported.artefacts
            ));
            Ok(Exit::Done)
        }
        RunsCommand::Continue {
            id,
            message,
            max_steps,
            json,
            wait_approval,
        } => {
            app.refuse_runs("continue runs")?;
            let run = app.find_run(&id).await?;
            let model = run.settings.get("model").and_then(Value::as_str);
            super::keys::unlock_for_run(&app, model, attended).await?;
            let beginning = Beginning::now(&app).await?;
            let words = message.map(|text| Words {
                text,
                from: "cli".to_owned(),
                key: None,
            });
            let fence = app
                .take_up(
                    &run.id,
                    words,
                    max_steps,
                    attendance(attended, wait_approval),
                )
                .await?;
            let show = if json { Show::Json } else { Show::Lines };
            execute(&app, fence, beginning, show, attended).await
        }
    }
}

async fn list(app: &App, limit: u32, status: Option<&str>, as_json: bool) -> Result<Exit, Failure> {
    let statuses = match status {
        None => Vec::new(),
        Some(name) => {
            let found = RunStatus::ALL
                .iter()
                .copied()
                .find(|status| status.as_str() == name);
            let names: Vec<_> = RunStatus::ALL
                .iter()
                .map(|status| status.as_str())
                .collect();
            vec![found.ok_or_else(|| {
                Failure::new(
                    openspace_app::Code::InvalidRequest,
                    format!(
                        "there is no status `{name}`; there are {}",
                        names.join(", ")
                    ),
                )
            })?]
        }
    };
    app.store.call(|db| db.runs().mark_orphans()).await?;
    let filter = RunFilter {
        statuses,
        limit,
        ..RunFilter::default()
    };
    let rows = app
        .store
        .read(move |db| {
            let runs = db.runs().list(&filter)?;
            runs.into_iter()
                .map(|run| Ok((db.tasks().get(&run.task)?, run)))
                .collect::<Result<Vec<_>, _>>()
        })
        .await?;
    if rows.is_empty() && !as_json {
        output::note(&app.catalogue.render("runs.none", &[]));
    }
    for (task, run) in rows {
        if as_json {
            output::json(&json!({ "run": run, "task": task.text }));
            continue;
        }
        let words: String = harmless(&task.text)
            .replace('\n', " ")
            .chars()
            .take(60)
            .collect();
        let status = app.catalogue.render(&format!("status.{}", run.status), &[]);
        output::line(&format!(
            "{}  {status:<14}  {:>4}  {words}",
            run.id, run.step
        ));
    }
    Ok(Exit::Done)
}

async fn show(app: &App, id: &str, as_json: bool) -> Result<Exit, Failure> {
    let run = app.find_run(id).await?;
    let key = run.id.clone();
    let (task, events) = app
        .store
        .read({
            let task = run.task.clone();
            move |db| {
                Ok((
                    db.tasks().get(&task)?,
                    db.events().of("run", key.as_str(), 0, u32::MAX)?,
                ))
            }
        })
        .await?;
    if as_json {
        output::json(&json!({ "run": run, "task": task.text, "events": events }));
        return Ok(Exit::Done);
    }
    output::line(&format!(
        "{}  {}",
        run.id,
        app.catalogue.render(&format!("status.{}", run.status), &[])
    ));
    output::line(&harmless(&task.text));
    for event in &events {
        let text = |key: &str| {
            event
                .payload
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let step = event
            .payload
            .get("step")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        match event.kind.as_str() {
            "step.call_started" => {
                let arguments = event.payload.get("arguments").unwrap_or(&Value::Null);
                output::line(&format!(
                    "{step:>4}  {}",
                    harmless(&app.catalogue.call(text("tool"), arguments))
                ));
            }
            "step.call_edited" => {
                let arguments = event.payload.get("arguments").unwrap_or(&Value::Null);
                let call = harmless(&app.catalogue.call(text("tool"), arguments));
                output::line(&format!(
                    "      {}",
                    app.catalogue.render("call.edited", &[("call", &call)])
                ));
            }
            "step.call_finished"
                if event.payload.get("error").and_then(Value::as_bool) == Some(true) =>
            {
                let message = harmless(text("message"));
                let key = if text("failure") == "denied" {
                    "call.denied"
                } else {
                    "call.failed"
                };
                output::line(&format!(
                    "      {} {}",
                    app.catalogue.render(key, &[]),
                    message.lines().next().unwrap_or_default()
                ));
            }
            _ => {}
        }
    }
    conclude(app, &run);
    Ok(Exit::Done)
}

fn conclude(app: &App, run: &Run) {
    let outcome = run
        .outcome
        .clone()
        .and_then(|outcome| serde_json::from_value::<Outcome>(outcome).ok());
    if let Some(outcome) = outcome {
        super::run::report(&app.catalogue, &run.id, &outcome, Show::Lines);
    }
}
