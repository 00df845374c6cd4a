//! Whether a model that is offered our tools, as a host offers them, chooses the right one.
//!
//! The tools and their instructions are those of the real `openspace mcp`; the requests are a table of
//! our own. A model is asked once for each, and only its first reply counts.

mod offer;
mod requests;
mod score;
mod server;

use std::{io::Write as _, path::PathBuf, process::ExitCode, sync::Arc};

use openspace_app::{App, Code, Environment, Failure, InstanceKind, Surface};
use openspace_llm::{ChatModel, Request};
use tokio_util::sync::CancellationToken;

use offer::Offer;
use requests::{REQUESTS, Row};
use score::{Choice, Score};

/// What was typed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    model: Option<String>,
    json: bool,
}

/// `eval tools`. Like `openspace run`, it ends with 2 where something has to be set right first.
pub(crate) fn tools(arguments: &[String]) -> ExitCode {
    let outcome = read(arguments).and_then(|arguments| {
        let runtime = tokio::runtime::Runtime::new().map_err(|error| internal(&error))?;
        runtime.block_on(ask_all(&arguments))
    });
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {failure}");
    if let Some(hint) = &failure.hint {
        eprintln!("  hint: {hint}");
    }
    match failure.code {
        Code::InvalidRequest | Code::Configuration | Code::Credentials | Code::NotFound => {
            ExitCode::from(2)
        }
        _ => ExitCode::FAILURE,
    }
}

fn read(arguments: &[String]) -> Result<Arguments, Failure> {
    let mut read = Arguments::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--json" => read.json = true,
            "--model" => read.model = Some(rest.next().cloned().ok_or_else(|| usage("--model"))?),
            other => match other.strip_prefix("--model=") {
                Some(model) => read.model = Some(model.to_owned()),
                None => return Err(usage(other)),
            },
        }
    }
    Ok(read)
}

fn usage(argument: &str) -> Failure {
    Failure::new(
        Code::InvalidRequest,
        format!("`{argument}` cannot be read; it is: eval tools [--model PROVIDER/MODEL] [--json]"),
    )
}

fn internal(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::Internal, error.to_string())
}

/// The program that is built beside this one.
fn openspace() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|error| internal(&error))?;
    let name = format!("openspace{}", std::env::consts::EXE_SUFFIX);
    Ok(own.with_file_name(name))
}

async fn ask_all(arguments: &Arguments) -> Result<(), Failure> {
    let program = openspace()?;
    let surface = Surface {
        kind: InstanceKind::Cli,
        claims_runs: false,
        asks_on_terminal: false,
        program: program.clone(),
        web_view: None,
    };
    let app = App::open(Environment::of_this_process(), surface, &[])?;
    let (name, model, _) = app.model(arguments.model.as_deref()).await?;
    let told = server::ask(&program).map_err(|error| internal(&format!("{error:#}")))?;
    let offer = Offer::new(&told);
    let mut score = Score::new(name);
    let most = app.values().model.max_reply_tokens;
    for (number, row) in REQUESTS.iter().enumerate() {
        eprint!("\r{} of {}", number + 1, REQUESTS.len());
        let choice = ask(&model, &offer, row, most)
            .await
            .inspect_err(|_| eprintln!())?;
        if arguments.json {
            println!("{}", score::line(row, &choice));
        }
        score.add(row, choice);
    }
    eprint!("\r            \r");
    let _closed = std::io::stderr().flush();
    if arguments.json {
        println!("{}", score.summary());
    } else {
        print!("{}", score.table());
    }
    Ok(())
}

async fn ask(
    model: &Arc<dyn ChatModel>,
    offer: &Offer,
    row: &Row,
    most: u32,
) -> Result<Choice, Failure> {
    let request = Request {
        system: offer.system.clone(),
        tools: offer.tools.clone(),
        messages: offer.conversation(row),
        max_tokens: most,
    };
    let cancel = CancellationToken::new();
    let reply = model.reply(&request, &cancel, &|_| ()).await?;
    let calls = reply
        .tool_calls()
        .map(|call| offer::short(&call.name).to_owned());
    Ok(Choice {
        calls: calls.collect(),
        usage: reply.usage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slip in what was typed is told and sends nothing.
    #[test]
    fn arguments_are_read() {
        let of = |words: &str| {
            let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
            read(&words)
        };
        let model = |model: &str, json| Arguments {
            model: Some(model.to_owned()),
            json,
        };
        assert_eq!(of("").ok(), Some(Arguments::default()));
        assert_eq!(of("--json --model a/b").ok(), Some(model("a/b", true)));
        assert_eq!(of("--model=a/b").ok(), Some(model("a/b", false)));
        for wrong in ["--model", "--jason", "a/b"] {
            assert_eq!(of(wrong).expect_err(wrong).code, Code::InvalidRequest);
        }
    }
}
