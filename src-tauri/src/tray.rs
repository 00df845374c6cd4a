//! The icon in the tray and its menu.

use std::sync::{Mutex, PoisonError};

use openspace_app::{
    desk::{Desk, Line, TrayView},
    rpc::desktop::Activity,
};
use tauri::{
    AppHandle, Manager as _, Wry,
    image::Image,
    menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu},
    tray::{TrayIcon, TrayIconBuilder},
};

/// The icon, and what it stands for.
struct Tray(TrayIcon, Mutex<Activity>);

/// Shows the icon; [`update`] gives it its menu.
pub(crate) fn show(app: &AppHandle, desk: &Desk) -> tauri::Result<()> {
    let icon = TrayIconBuilder::with_id("openspace")
        .icon(picture(Activity::Idle)?)
        .tooltip("OpenSpace")
        .show_menu_on_left_click(true)
        // Linux shows icons from files; this folder is nobody else's.
        .temp_dir_path(desk.app().paths.runtime.join("tray"))
        // Linux shows no icon without a menu.
        .menu(&Menu::new(app)?)
        .on_menu_event(|app, event| {
            if let Some(desk) = super::desk(app) {
                desk.chosen(event.id().as_ref());
            }
        })
        .build(app)?;
    app.manage(Tray(icon, Mutex::new(Activity::Idle)));
    Ok(())
}

/// Shows what is now.
pub(crate) fn update(app: &AppHandle, now: &TrayView) -> tauri::Result<()> {
    let Some(tray) = app.try_state::<Tray>() else {
        return Ok(());
    };
    let mut shown = tray.1.lock().unwrap_or_else(PoisonError::into_inner);
    if *shown != now.activity {
        tray.0.set_icon(Some(picture(now.activity)?))?;
        *shown = now.activity;
    }
    let menu = Menu::new(app)?;
    for line in &now.lines {
        menu.append(&*built(app, line)?)?;
    }
    tray.0.set_menu(Some(menu))
}

fn built(app: &AppHandle, line: &Line) -> tauri::Result<Box<dyn IsMenuItem<Wry>>> {
    // `&` marks the next letter as a key in menus.
    let plain = |text: &str| text.replace('&', "&&");
    Ok(match line {
        Line::Item { id, text, enabled } => {
            let no_key = None::<&str>;
            Box::new(MenuItem::with_id(app, id, plain(text), *enabled, no_key)?)
        }
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

fn picture(activity: Activity) -> tauri::Result<Image<'static>> {
    Image::from_bytes(match activity {
        Activity::Idle => include_bytes!("../../icons/tray-idle.png").as_slice(),
        Activity::Running => include_bytes!("../../icons/tray-running.png").as_slice(),
        Activity::NeedsYou => include_bytes!("../../icons/tray-needs-you.png").as_slice(),
        Activity::Paused => include_bytes!("../../icons/tray-paused.png").as_slice(),
        Activity::Controlling => include_bytes!("../../icons/tray-controlling.png").as_slice(),
    })
}
