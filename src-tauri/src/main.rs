//! `openspace-desktop`: the window, the tray, the hotkeys, and the process that executes queued runs
//! while the person is at their desk.
//!
//! Nothing is decided here: calls go to `app`, which every surface shares. What must work while the
//! page hangs (stop, pause, quit) never goes through it.

// On Windows a console would open beside the window.
#![cfg_attr(all(windows, not(debug_assertions)), windows_subsystem = "windows")]

mod bridge;
mod control;
mod core;
mod first_paint;
mod frames;
mod graphics;
mod hotkeys;
mod links;
mod practice;
mod pulse;
mod quit;
mod tray;
mod updater;
mod window;

use std::{process::ExitCode, time::Instant};

use openspace_app::Environment;
use tauri::{Manager as _, RunEvent};

/// How the window system classes our windows; no run may use them.
const NAME: &str = "openspace-desktop";
/// Shows the practice window instead of the app.
const PRACTICE: &str = "--practice";

fn main() -> ExitCode {
    let started = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let practises = arguments.iter().any(|argument| argument == PRACTICE);
    if let Err(error) = graphics::choose(if practises { practice::NAME } else { NAME }) {
        // The window opens all the same; where the driver is broken it stays empty, and says so.
        log(&error);
    }
    if practises {
        return ended(practice::show());
    }
    ended(run(started, &arguments))
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "before there is a log, or when there is none"
)]
fn log(error: &dyn std::fmt::Display) {
    eprintln!("openspace-desktop: {error}");
}

#[expect(clippy::exit, reason = "what the macro of the context contains")]
fn run(started: Instant, arguments: &[String]) -> Result<(), String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    tauri::async_runtime::set(runtime.handle().clone());
    let environment = Environment::of_this_process();
    let paths = openspace_app::paths(&environment).map_err(|failure| failure.to_string())?;
    let page = arguments.iter().find_map(|argument| links::page(argument));
    let builder = tauri::Builder::default()
        // First, so that a second start ends before it opens anything.
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(core::name_among_instances(&paths.data))
                .callback(|app, arguments, _folder| {
                    let page = arguments.iter().find_map(|argument| links::page(argument));
                    window::focus(app, page.as_deref());
                })
                .build(),
        )
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .manage(first_paint::FirstPaint::new(started))
        .manage(bridge::Subscriptions::default())
        .manage(control::Shown::default())
        .register_asynchronous_uri_scheme_protocol(frames::SCHEME, frames::answer)
        .invoke_handler(tauri::generate_handler![
            bridge::rpc,
            bridge::subscribe,
            bridge::unsubscribe,
            first_paint::painted,
        ])
        .on_page_load(|webview, load| {
            if load.event() == tauri::webview::PageLoadEvent::Started {
                bridge::forget(webview.app_handle(), webview.label());
            }
        })
        .setup(move |app| {
            let _in_runtime = runtime.enter();
            match core::open(app.handle(), environment) {
                Ok(()) => begin(app.handle(), page.as_deref()),
                Err(failure) => core::cannot_start(app.handle(), &failure),
            }
            // The app lives as long as this closure's captures do not: the runtime goes with it.
            app.manage(core::Kept::new(runtime));
            Ok(())
        });
    let app = builder
        .build(tauri::generate_context!("tauri.conf.json"))
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

/// Everything that needs the opened program.
fn begin(app: &tauri::AppHandle, page: Option<&str>) {
    links::listen(app);
    if let Err(error) = window::open(app, page) {
        tracing::error!(%error, "the window does not open");
    }
    if let Err(error) = tray::show(app) {
        tracing::warn!(%error, "there is no tray");
    }
    hotkeys::register(app);
    updater::prepare(app);
    pulse::start(app);
    quit::on_signals(app);
    first_paint::watch(app);
}
