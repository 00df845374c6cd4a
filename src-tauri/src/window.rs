//! The main window: opened hidden, shown when its page is there, hidden instead of closed.

use openspace_app::{
    MARKER,
    rpc::{Caller, Rpc},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tauri::{
    AppHandle, LogicalPosition, LogicalSize, Manager as _, Theme, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder, WindowEvent,
    utils::config::Color,
    webview::{NewWindowResponse, PageLoadEvent},
};

pub(crate) const MAIN: &str = "main";

/// Size at the first start and smallest size, logical pixels.
const SIZE: (f64, f64) = (1280.0, 832.0);
const SMALLEST: (f64, f64) = (960.0, 640.0);
/// `bg` of ui/src/styles/tokens.json, so that nothing flashes before the page is painted.
const LIGHT: Color = Color(0xF7, 0xF8, 0xFA, 0xFF);
const DARK: Color = Color(0x10, 0x13, 0x19, 0xFF);

/// Where the place is kept, and whether the tray was explained.
const PLACE: &str = "desktop.window";
const EXPLAINED: &str = "desktop.tray_explained";

/// Where the window was, logical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    maximized: bool,
}

/// Opens the main window at a page.
pub(crate) fn open(app: &AppHandle, page: Option<&str>) -> tauri::Result<()> {
    let place = tauri::async_runtime::block_on(kept(app, PLACE))
        .and_then(|place| serde_json::from_value::<Place>(place).ok())
        .filter(|place| is_visible(app, place));
    let address = page.map_or_else(
        || "index.html".to_owned(),
        |page| format!("index.html#{page}"),
    );
    let mut builder = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App(address.into()))
        .title(MARKER)
        .visible(false)
        .min_inner_size(SMALLEST.0, SMALLEST.1)
        .background_color(LIGHT)
        .initialization_script(super::first_paint::SCRIPT)
        // Pages of ours and nothing else; links leave by the opener, after a question.
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Finished {
                super::first_paint::shown(window.app_handle());
                if let Err(error) = window.show() {
                    tracing::error!(%error, "showing the window");
                }
            }
        });
    if let Some(rpc) = app.try_state::<Rpc>() {
        builder = builder.data_directory(rpc.app().paths.data.join("webview"));
    }
    builder = match place {
        Some(place) => builder
            .inner_size(place.width, place.height)
            .position(place.x, place.y)
            .maximized(place.maximized),
        None => builder.inner_size(SIZE.0, SIZE.1).center(),
    };
    let window = builder.build()?;
    if window.theme().is_ok_and(|theme| theme == Theme::Dark) {
        window.set_background_color(Some(DARK))?;
    }
    let shown = window.clone();
    window.on_window_event(move |event| {
        if let WindowEvent::CloseRequested { api, .. } = event {
            api.prevent_close();
            close_to_tray(&shown);
        }
    });
    Ok(())
}

fn is_ours(address: &tauri::Url) -> bool {
    address.scheme() == "tauri" || address.host_str() == Some("tauri.localhost")
}

/// A monitor that went away must not take the window with it.
fn is_visible(app: &AppHandle, place: &Place) -> bool {
    const CORNER: f64 = 80.0;
    let monitors = app.available_monitors().unwrap_or_default();
    monitors.iter().any(|monitor| {
        let scale = monitor.scale_factor();
        let from: LogicalPosition<f64> = monitor.position().to_logical(scale);
        let size: LogicalSize<f64> = monitor.size().to_logical(scale);
        place.x + place.width >= from.x + CORNER
            && place.x <= from.x + size.width - CORNER
            && place.y >= from.y - CORNER
            && place.y <= from.y + size.height - CORNER
    })
}

/// Brings the main window to the person, at a page where one is given.
pub(crate) fn focus(app: &AppHandle, page: Option<&str>) {
    let Some(window) = app.get_webview_window(MAIN) else {
        return;
    };
    let mut brought = window
        .show()
        .and_then(|()| window.unminimize())
        .and_then(|()| window.set_focus());
    if let Some(page) = page {
        let to = json!(format!("#{page}"));
        brought = brought.and_then(|()| window.eval(format!("location.hash = {to}")));
    }
    if let Err(error) = brought {
        tracing::warn!(%error, "bringing the window to the front");
    }
}

/// Whether the person looks at a window of ours.
pub(crate) fn is_looked_at(app: &AppHandle) -> bool {
    app.get_webview_window(MAIN)
        .is_some_and(|window| window.is_focused().unwrap_or_default())
}

fn close_to_tray(window: &WebviewWindow) {
    let app = window.app_handle().clone();
    keep_place(&app);
    if let Err(error) = window.hide() {
        tracing::warn!(%error, "hiding the window");
    }
    tauri::async_runtime::spawn(async move {
        if kept(&app, EXPLAINED).await.is_none() {
            keep(&app, EXPLAINED, json!(true)).await;
            super::pulse::notify(&app, "notify.tray.title", "notify.tray.body", &[]);
        }
    });
}

/// Remembers where the window is.
pub(crate) fn keep_place(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else {
        return;
    };
    let place = || -> tauri::Result<Place> {
        let scale = window.scale_factor()?;
        let (at, size) = (window.outer_position()?, window.inner_size()?);
        let (at, size) = (at.to_logical::<f64>(scale), size.to_logical::<f64>(scale));
        Ok(Place {
            x: at.x,
            y: at.y,
            width: size.width,
            height: size.height,
            maximized: window.is_maximized()?,
        })
    };
    match place() {
        Ok(place) => {
            let app = app.clone();
            tauri::async_runtime::spawn(async move { keep(&app, PLACE, json!(place)).await });
        }
        Err(error) => tracing::warn!(%error, "asking where the window is"),
    }
}

/// A value the app keeps, where there is one.
pub(crate) async fn kept(app: &AppHandle, key: &str) -> Option<serde_json::Value> {
    let rpc = app.try_state::<Rpc>()?.inner().clone();
    let got = rpc
        .call(Caller::Window, "ui_state_get", json!({ "key": key }))
        .await;
    got.ok()?
        .get("value")
        .filter(|value| !value.is_null())
        .cloned()
}

/// Keeps a value.
pub(crate) async fn keep(app: &AppHandle, key: &str, value: serde_json::Value) {
    let Some(rpc) = app.try_state::<Rpc>() else {
        return;
    };
    let rpc = rpc.inner().clone();
    let request = json!({ "key": key, "value": value });
    if let Err(failure) = rpc.call(Caller::Window, "ui_state_set", request).await {
        tracing::warn!(%failure, "keeping a value of the window");
    }
}
