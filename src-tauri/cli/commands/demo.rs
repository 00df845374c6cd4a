//! `openspace demo`

use std::sync::Arc;

use openspace_app::{Display, Environment, Failure, SpecAttendance, demo};

use super::run::execute;
use crate::{
    args::DemoArgs,
    exit::Exit,
    live::{Beginning, Show},
    output,
    terminal::Terminal,
};

pub(crate) async fn demo(arguments: DemoArgs, environment: Environment) -> Result<Exit, Failure> {
    let display = Display::parse(arguments.display.as_deref());
    let attended = !arguments.yes && Terminal::open().is_some();
    let app = super::open(environment, attended, &[])?;
    app.refuse_runs("start runs of its own")?;
    let demo = demo::Demo::prepare(&app.paths.home.join(demo::FOLDER))?;
    output::note(&app.catalogue.render("demo.label", &[]));
    let mut request = demo.request();
    request.display = display;
    if !attended && !arguments.yes {
        request.attendance = SpecAttendance::Absent;
    }
    let beginning = Beginning::now(&app).await?;
    let (queued, fence) = app.enqueue_claimed(&request).await?;
    let answering = arguments
        .yes
        .then(|| tokio::spawn(demo::say_yes(Arc::clone(&app), queued.run.clone())));
    let show = if arguments.json {
        Show::Json
    } else {
        Show::Lines
    };
    let exit = execute(&app, fence, beginning, show, attended).await;
    if let Some(task) = answering {
        task.abort();
    }
    let exit = exit?;
    let (letter, right) = demo.verify();
    let key = if right {
        "demo.verified"
    } else {
        "demo.mismatch"
    };
    output::note(
        &app.catalogue
            .render(key, &[("path", &letter.display().to_string())]),
    );
    let run = app.find_run(queued.run.as_str()).await?;
    let folder = demo.folder().join(format!("{}{}", demo::EXPORT, run.id));
    app.export(&run, &folder).await?;
    output::note(&app.catalogue.render(
        "run.artefacts",
        &[("folder", &folder.display().to_string())],
    ));
    Ok(if right { exit } else { Exit::Failed })
}
