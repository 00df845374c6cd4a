//! `openspace stop`

use openspace_app::{Environment, Failure};

use crate::{args::StopArgs, exit::Exit, output};

pub(crate) async fn stop(arguments: StopArgs, environment: Environment) -> Result<Exit, Failure> {
    let app = super::open_to_stop(environment)?;
    let runs = if let Some(id) = &arguments.id {
        vec![app.find_run(id).await?]
    } else {
        let going = app.going().await?;
        if going.len() > 1 && !arguments.all {
            let ids: Vec<_> = going.iter().map(|run| run.id.to_string()).collect();
            let message = format!("several runs are going: {}", ids.join(", "));
            return Err(Failure::new(openspace_app::Code::InvalidRequest, message)
                .hint("name one, or use --all"));
        }
        going
    };
    if runs.is_empty() {
        output::note(&app.catalogue.render("stop.none", &[]));
        return Ok(Exit::Done);
    }
    // First all are told, so that none waits for another to end.
    let mut first = None;
    let stopping = runs.iter().map(|run| app.stop(&run.id, "terminal"));
    for (run, stopped) in runs
        .iter()
        .zip(futures_util::future::join_all(stopping).await)
    {
        match stopped {
            Ok(()) => output::note(
                &app.catalogue
                    .render("stop.stopped", &[("run", run.id.as_str())]),
            ),
            Err(failure) => {
                output::failure(&failure);
                first.get_or_insert(Exit::of_failure(&failure));
            }
        }
    }
    Ok(first.unwrap_or(Exit::Done))
}
