//! The icon in the tray and its menu. On Linux it tells of no click, so everything is in the menu.

use std::sync::{Mutex, PoisonError};

use openspace_app::{
    Catalogue,
    rpc::{
        Rpc,
        desktop::{Activity, Overview},
        runs::RunSummary,
    },
};
use tauri::{
    AppHandle, Manager as _,
    image::Image,
    menu::{Menu, MenuItem, PredefinedMenuItem, Submenu},
    tray::{TrayIcon, TrayIconBuilder},
};

/// Longest name of a task in the menu, characters.
const LONGEST: usize = 40;

/// A line of the menu: its id, which says what it does, and its text; none for a line to part others.
#[derive(Debug, Clone, PartialEq)]
enum Line {
    Item {
        id: String,
        text: String,
        enabled: bool,
    },
    Below {
        text: String,
        lines: Vec<Line>,
    },
    Rule,
}

/// The tray as it is shown.
pub(crate) struct Tray {
    icon: TrayIcon,
    shown: Mutex<Option<(Activity, Vec<Line>)>>,
}

/// Shows the icon; [`update`] gives it its menu.
pub(crate) fn show(app: &AppHandle) -> tauri::Result<()> {
    let mut builder = TrayIconBuilder::with_id("openspace")
        .icon(picture(Activity::Idle)?)
        .tooltip("OpenSpace")
        .show_menu_on_left_click(true)
        .on_menu_event(|app, event| chosen(app, event.id().as_ref()));
    if let Some(rpc) = app.try_state::<Rpc>() {
        // Linux shows icons from files; this folder is nobody else's.
        builder = builder.temp_dir_path(rpc.app().paths.runtime.join("tray"));
    }
    // Linux shows no icon without a menu.
    let icon = builder.menu(&Menu::new(app)?).build(app)?;
    app.manage(Tray {
        icon,
        shown: Mutex::new(None),
    });
    Ok(())
}

/// Shows what is now, where it differs from what is shown. A menu that is open stays as it is while
/// only steps are counted.
pub(crate) fn update(app: &AppHandle, texts: &Catalogue, overview: &Overview, keys: &[String; 4]) {
    let Some(tray) = app.try_state::<Tray>() else {
        return;
    };
    let updates = super::updater::is_there(app);
    let now = (overview.activity(), lines(texts, overview, keys, updates));
    let mut shown = tray.shown.lock().unwrap_or_else(PoisonError::into_inner);
    if shown.as_ref() == Some(&now) {
        return;
    }
    let changed = || -> tauri::Result<()> {
        if shown
            .as_ref()
            .is_none_or(|(activity, _)| *activity != now.0)
        {
            tray.icon.set_icon(Some(picture(now.0)?))?;
        }
        let menu = Menu::new(app)?;
        for line in &now.1 {
            menu.append(&*built(app, line)?)?;
        }
        tray.icon.set_menu(Some(menu))
    };
    if let Err(error) = changed() {
        tracing::warn!(%error, "changing the tray");
    }
    *shown = Some(now);
}

fn built(
    app: &AppHandle,
    line: &Line,
) -> tauri::Result<Box<dyn tauri::menu::IsMenuItem<tauri::Wry>>> {
    Ok(match line {
        Line::Item { id, text, enabled } => Box::new(MenuItem::with_id(
            app,
            id,
            plain(text),
            *enabled,
            None::<&str>,
        )?),
        Line::Below { text, lines } => {
            let below = Submenu::new(app, plain(text), true)?;
            for line in lines {
                below.append(&*built(app, line)?)?;
            }
            Box::new(below)
        }
        Line::Rule => Box::new(PredefinedMenuItem::separator(app)?),
    })
}

/// `&` marks the next letter as a key in menus.
fn plain(text: &str) -> String {
    text.replace('&', "&&")
}

fn picture(activity: Activity) -> tauri::Result<Image<'static>> {
    Image::from_bytes(match activity {
        Activity::Idle => include_bytes!("../../icons/tray-idle.png").as_slice(),
        Activity::Running => include_bytes!("../../icons/tray-running.png").as_slice(),
        Activity::NeedsYou => include_bytes!("../../icons/tray-needs-you.png").as_slice(),
        Activity::Paused => include_bytes!("../../icons/tray-paused.png").as_slice(),
        Activity::Controlling => include_bytes!("../../icons/tray-controlling.png").as_slice(),
    })
}

fn lines(texts: &Catalogue, overview: &Overview, keys: &[String; 4], updates: bool) -> Vec<Line> {
    let text = |key: &str| texts.render(key, &[]);
    let item = |id: &str, text: String, enabled: bool| Line::Item {
        id: id.to_owned(),
        text,
        enabled,
    };
    // A key that does not work is not promised.
    let keyed = |key: &str, keys: &str| match keys {
        "" => text(key),
        keys => texts.render("tray.with_keys", &[("label", &text(key)), ("keys", keys)]),
    };
    let [stop, approvals, quick, pause] = keys;
    let going = overview.going.iter().any(|run| run.going);
    let count = overview.approvals();
    let waiting = match count {
        0 => text("tray.no_approvals"),
        1 => keyed("tray.approval", approvals),
        _ => texts.render("tray.approvals", &[("count", &count.to_string())]),
    };
    let paused = overview.activity() == Activity::Paused;
    let recent: Vec<Line> = overview
        .recent
        .iter()
        .map(|run| item(&format!("run:{}", run.id), named(texts, run), true))
        .collect();
    let recent = if recent.is_empty() {
        vec![item("none", text("tray.no_recent"), false)]
    } else {
        recent
    };
    let mut lines = vec![
        item("state", state(texts, overview), false),
        item("stop", keyed("tray.stop", stop), going),
        item(
            "pause",
            keyed(if paused { "tray.resume" } else { "tray.pause" }, pause),
            going,
        ),
        item("approvals", waiting, count > 0),
        Line::Rule,
        item("quick", keyed("tray.quick", quick), true),
        item("open", text("tray.open"), true),
        Line::Below {
            text: text("tray.recent"),
            lines: recent,
        },
        Line::Rule,
    ];
    if updates {
        lines.push(item("update", text("tray.update"), true));
    }
    lines.push(item("quit", text("tray.quit"), true));
    lines
}

/// One line about what goes on.
fn state(texts: &Catalogue, overview: &Overview) -> String {
    let controls = |run: &&RunSummary| Some(&run.id) == overview.controls.as_ref();
    let Some(run) = overview
        .going
        .iter()
        .find(controls)
        .or(overview.going.first())
    else {
        return texts.render("tray.idle", &[]);
    };
    if controls(&run) {
        let values = [
            ("task", &*short(&run.text)),
            ("step", &*run.step.to_string()),
        ];
        return texts.render("tray.controls", &values);
    }
    named(texts, run)
}

fn named(texts: &Catalogue, run: &RunSummary) -> String {
    let status = serde_json::to_value(run.status).unwrap_or_default();
    let status = format!("status.{}", status.as_str().unwrap_or_default());
    let values = [
        ("task", &*short(&run.text)),
        ("status", &*texts.render(&status, &[])),
        ("step", &*run.step.to_string()),
    ];
    texts.render("tray.run", &values)
}

/// The first words of a task, on one line.
pub(crate) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn chosen(app: &AppHandle, id: &str) {
    match id {
        "stop" => super::hotkeys::stop_everything(app),
        "pause" => super::hotkeys::pause_everything(app),
        "approvals" => super::window::focus(app, Some("/approvals")),
        "quick" => super::window::focus(app, Some("/tasks/new")),
        "open" => super::window::focus(app, None),
        "update" => super::updater::look(app),
        "quit" => super::quit::ask(app),
        _ => {
            if let Some(run) = id.strip_prefix("run:") {
                super::window::focus(app, Some(&format!("/runs/{run}")));
            }
        }
    }
}
