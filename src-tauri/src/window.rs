//! The main window: opened hidden, shown when its page is there, hidden instead of closed. And what all
//! windows have in common; their looks are in `tauri.conf.json`.

use std::sync::Arc;

use openspace_app::{
    MARKER,
    desk::{self, Area, Desk, Place},
};
use serde_json::json;
use tauri::{
    AppHandle, Error, Manager as _, Monitor, Theme, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder, WindowEvent, Wry,
    utils::config::Color,
    webview::{NewWindowResponse, PageLoadEvent},
};

/// `bg` of the dark tokens in ui/src/styles/tokens.json, so that nothing flashes before the page is
/// painted. The configuration has that of the light ones.
const DARK: Color = Color(0x10, 0x13, 0x19, 0xFF);

type Builder<'a> = WebviewWindowBuilder<'a, Wry, AppHandle>;

/// A window as the configuration describes it.
pub(crate) fn configured<'a>(
    app: &'a AppHandle,
    label: &str,
    title: &str,
    page: &str,
) -> tauri::Result<Builder<'a>> {
    let windows = &app.config().app.windows;
    let mut config = windows.iter().find(|window| window.label == label).cloned();
    if let Some(config) = &mut config {
        config.url = WebviewUrl::App(page.into());
    }
    let config = config.ok_or(Error::WindowNotFound)?;
    Ok(WebviewWindowBuilder::from_config(app, &config)?.title(title))
}

/// Tells the page something once it is there, and shows the window then.
pub(crate) fn saying(
    builder: Builder<'_>,
    script: impl Fn(&WebviewWindow) -> Option<String> + Send + Sync + 'static,
) -> Builder<'_> {
    builder.on_page_load(move |window, load| {
        if load.event() == PageLoadEvent::Finished {
            let said = script(&window).map_or(Ok(()), |script| window.eval(script));
            if let Err(error) = said.and_then(|()| window.show()) {
                tracing::error!(%error, window = window.label(), "showing a window");
            }
        }
    })
}

/// Builds a window that shows pages of ours and nothing else; links leave by the opener, after a
/// question.
pub(crate) fn of_ours(app: &AppHandle, builder: Builder<'_>) -> tauri::Result<WebviewWindow> {
    let desk = super::desk(app).ok_or(Error::WindowNotFound)?;
    let window = builder
        .data_directory(desk.app().paths.data.join("webview"))
        .on_navigation(|address| {
            address.scheme() == "tauri" || address.host_str() == Some("tauri.localhost")
        })
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    super::hand::watch(&desk, &window);
    Ok(window)
}

/// Opens the main window at a page.
pub(crate) fn open(app: &AppHandle, desk: &Arc<Desk>, page: Option<&str>) -> tauri::Result<()> {
    let monitors: Vec<Area> = app.available_monitors()?.iter().map(logical).collect();
    let address = page.map_or_else(
        || "index.html".to_owned(),
        |page| format!("index.html#{page}"),
    );
    let mut builder = configured(app, desk::MAIN, MARKER, &address)?
        .initialization_script(include_str!("first_paint.js"));
    builder = saying(builder, |window| {
        super::desk(window)?.first_paint.shown();
        None
    });
    builder = match desk
        .kept_place()
        .filter(|place| place.is_visible(&monitors))
    {
        Some(place) => builder
            .inner_size(place.width, place.height)
            .position(place.x, place.y)
            .maximized(place.maximized),
        None => builder.center(),
    };
    let window = of_ours(app, builder)?;
    if window.theme().is_ok_and(|theme| theme == Theme::Dark) {
        window.set_background_color(Some(DARK))?;
    }
    let (shown, desk) = (window.clone(), Arc::clone(desk));
    window.on_window_event(move |event| {
        if let WindowEvent::CloseRequested { api, .. } = event {
            api.prevent_close();
            desk.hidden();
            super::tried(shown.hide(), "hiding the window");
        }
    });
    Ok(())
}

/// The main window, where it could be opened.
pub(crate) fn main(app: &AppHandle) -> Option<WebviewWindow> {
    app.get_webview_window(desk::MAIN)
}

/// Brings the main window to the person, at a page where one is given.
pub(crate) fn focus(app: &AppHandle, page: Option<&str>) {
    let Some(window) = main(app) else { return };
    let mut brought = window
        .show()
        .and_then(|()| window.unminimize())
        .and_then(|()| window.set_focus());
    if let Some(page) = page {
        let to = json!(format!("#{page}"));
        brought = brought.and_then(|()| window.eval(format!("location.hash = {to}")));
    }
    super::tried(brought, "bringing the window to the front");
}

/// Where a window is, logical pixels.
pub(crate) fn place(window: &WebviewWindow) -> tauri::Result<Place> {
    let scale = window.scale_factor()?;
    let at = window.outer_position()?.to_logical(scale);
    let size = window.inner_size()?.to_logical(scale);
    Ok(Place {
        x: at.x,
        y: at.y,
        width: size.width,
        height: size.height,
        maximized: window.is_maximized()?,
    })
}

/// Where a window is seen, pixels; none while it is hidden or minimised.
pub(crate) fn seen(window: &WebviewWindow) -> tauri::Result<Option<Area>> {
    if !window.is_visible()? || window.is_minimized()? {
        return Ok(None);
    }
    let area = Area::new(window.outer_position()?.into(), window.outer_size()?.into());
    Ok(Some(area))
}

/// Minimises the main window, or takes that back.
pub(crate) fn minimise(app: &AppHandle, away: bool) {
    let Some(window) = main(app) else { return };
    let done = if away {
        window.minimize()
    } else {
        window.unminimize()
    };
    super::tried(done, "minimising the window");
}

fn logical(monitor: &Monitor) -> Area {
    let scale = monitor.scale_factor();
    let at = monitor.position().to_logical::<f64>(scale);
    Area::new(at.into(), monitor.size().to_logical::<f64>(scale).into())
}
