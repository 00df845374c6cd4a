//! `openspace-desktop`: the windows, the tray, the hotkeys, and the process that executes queued runs
//! while the person is at their desk.
//!
//! Nothing is decided here and nothing is put into words: both are in [`openspace_app::desk`]. What must
//! work while a page hangs (stop, pause, quit) never goes through one.

// On Windows a console would open beside the window.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

mod bridge;
mod face;
mod frames;
mod hand;
mod pill;
mod quick;
mod tray;
mod updater;
mod window;

use std::{
    io::stderr,
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Instant,
};

use openspace_app::{
    Environment,
    desk::{self, Desk, Practice},
};
use tauri::{AppHandle, Manager, RunEvent, Wry, webview::PageLoadEvent};
use tauri_plugin_deep_link::DeepLinkExt as _;
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt as _};
use tracing_subscriber::{fmt, layer::SubscriberExt as _, registry};

/// Shows the practice window instead of the app: a form and a list to try clicking and typing on. It is a
/// process of its own that opens no store and is in no list of ours, so it is the one window of this
/// program that a run may use.
const PRACTICE: &str = "--practice";

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let practises = arguments.iter().any(|argument| argument == PRACTICE);
    if let Err(error) = desk::start_as(practises) {
        // The window opens all the same; where the driver is broken it stays empty, and says so.
        log(&error);
    }
    let shown = if practises {
        practise(&arguments)
    } else {
        run(started, &arguments)
    };
    if let Err(error) = shown {
        log(&error);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[expect(
    clippy::print_stderr,
    reason = "before there is a log, or when there is none"
)]
fn log(error: &dyn std::fmt::Display) {
    eprintln!("openspace-desktop: {error}");
}

fn practise(arguments: &[String]) -> Result<(), String> {
    let practice = Practice::new(&Environment::of_this_process(), arguments)?;
    tauri::Builder::default()
        .setup(move |app| {
            let script = format!("say({})", practice.texts);
            let (title, page) = (&practice.title, &practice.page);
            let builder = window::configured(app.handle(), "practice", title, page)?
                .always_on_top(practice.aimed)
                .on_document_title_changed(move |_, title| practice.heard(&title));
            window::saying(builder, move |_| Some(script.clone())).build()?;
            Ok(())
        })
        .run(context())
        .map_err(|error| error.to_string())
}

#[expect(clippy::exit, reason = "what the macro of the context contains")]
fn context() -> tauri::Context {
    tauri::generate_context!("tauri.conf.json")
}

fn run(started: Instant, arguments: &[String]) -> Result<(), String> {
    // Lives as long as the app.
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let _within = runtime.enter();
    tauri::async_runtime::set(runtime.handle().clone());
    let environment = Environment::of_this_process();
    let paths = openspace_app::paths(&environment).map_err(|failure| failure.to_string())?;
    let page_in = |arguments: &[String]| arguments.iter().find_map(|argument| desk::page(argument));
    let page = page_in(arguments);
    let app = tauri::Builder::default()
        // First, so that a second start ends before it opens anything.
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(desk::name_among_instances(&paths.data))
                .callback(move |app, arguments, _folder| {
                    window::focus(app, page_in(&arguments).as_deref());
                })
                .build(),
        )
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .register_asynchronous_uri_scheme_protocol(frames::SCHEME, frames::answer)
        .invoke_handler(tauri::generate_handler![
            bridge::rpc,
            bridge::subscribe,
            bridge::unsubscribe,
            bridge::leave,
            bridge::painted,
        ])
        .on_page_load(|webview, load| {
            if let (PageLoadEvent::Started, Some(desk)) = (load.event(), desk(webview)) {
                desk.streams.forget(webview.label());
            }
        })
        .setup(move |app| {
            let face = Arc::new(face::Tauri(app.handle().clone()));
            match Desk::open(environment.clone(), started, face) {
                Ok(desk) => begin(app.handle(), &desk, page.as_deref()),
                Err(failure) => {
                    log(&failure);
                    let (told, app) = (desk::cannot_start(&environment, &failure), app.handle());
                    let ends = app.clone();
                    face::ask(app, told, move |_| ends.exit(1));
                }
            }
            Ok(())
        })
        .build(context())
        .map_err(|error| error.to_string())?;
    app.run(|_app, event| match event {
        // The last window was closed: the tray and the runs stay.
        RunEvent::ExitRequested {
            code: None, api, ..
        } => api.prevent_exit(),
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::focus(_app, None),
        _ => {}
    });
    Ok(())
}

/// Tells the log of what did not work and is not needed to go on.
fn tried<E: std::fmt::Display>(done: Result<(), E>, what: &'static str) {
    if let Err(error) = done {
        tracing::warn!(%error, "{what}");
    }
}

/// The opened program, where it could be opened.
fn desk(app: &impl Manager<Wry>) -> Option<Arc<Desk>> {
    app.try_state::<Arc<Desk>>().map(|desk| Arc::clone(&desk))
}

/// Everything that needs the opened program.
fn begin(app: &AppHandle, desk: &Arc<Desk>, page: Option<&str>) {
    let (writer, no_file) = match openspace_app::log_file(&desk.app().paths.data, "desktop") {
        Ok(file) => (BoxMakeWriter::new(stderr.and(Mutex::new(file))), None),
        Err(error) => (BoxMakeWriter::new(stderr), Some(error)),
    };
    let lines = fmt::layer().with_ansi(false).with_writer(writer);
    let log = registry().with(desk.log_levels()).with(lines);
    // The only subscriber of this process.
    let _first = tracing::subscriber::set_global_default(log);
    if let Some(error) = no_file {
        tracing::warn!(%error, "no log file");
    }
    app.manage(Arc::clone(desk));
    // Addresses that the system hands over while the app runs (macOS; elsewhere they come as arguments
    // of a second start).
    let shown = app.clone();
    app.deep_link().on_open_url(move |event| {
        let page = event.urls().iter().find_map(|url| desk::page(url.as_str()));
        window::focus(&shown, page.as_deref());
    });
    if let Err(error) = window::open(app, desk, page) {
        tracing::error!(%error, "the window does not open");
    }
    tried(tray::show(app, desk), "there is no tray");
    updater::prepare(app);
    desk.begin(openspace_serve::mcp::while_wanted);
}
