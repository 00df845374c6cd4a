//! `openspace demo`

use std::sync::Arc;

use openspace_app::{Environment, Failure, SpecAttendance, demo};

use super::run::execute;
use crate::{
    args::DemoArgs,
    exit::Exit,
    live::{Beginning, Show},
    output, terminal,
};

pub(crate) async fn demo(
    arguments: DemoArgs,
    mut environment: Environment,
) -> Result<Exit, Failure> {
    let paths = openspace_app::paths(&environment)?;
    // Kept until the end: programs on a display of its own end with it.
    let _display = match arguments.display.as_deref() {
        Some("private") => Some(demo::private_display(
            &mut environment,
            &paths.runtime,
            demo::SIZE,
            &super::own_program()?,
        )?),
        Some(name) => {
            environment.insert("DISPLAY", name);
            environment.remove("WAYLAND_DISPLAY");
            None
        }
        None => None,
    };
    let attended = !arguments.yes && terminal::open().is_some();
    let app = super::open(environment, attended, &[])?;
    app.refuse_runs("start runs of its own")?;
    let demo = demo::Demo::prepare(&paths.home.join(demo::FOLDER))?;
    output::note(&app.catalogue.render("demo.label", &[]));
    let mut request = demo.request();
    if !attended && !arguments.yes {
        request.attendance = SpecAttendance::Absent;
    }
    let recording = demo.recording(&app)?;
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
    let exit = execute(&app, fence, beginning, show, attended, Some(recording)).await;
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
    let folder = demo.folder().join(format!("run-{}", run.id));
    app.export(&run, &folder).await?;
    output::note(&app.catalogue.render(
        "run.artefacts",
        &[("folder", &folder.display().to_string())],
    ));
    Ok(if right { exit } else { Exit::Failed })
}
