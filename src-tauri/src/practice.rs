//! The practice window: a form and a list to try clicking and typing on.
//!
//! It is a process of its own that opens no store and is in no list of ours, so it is the one window
//! of this program that a run may use. Its page can call nothing.

use openspace_app::{Catalogue, Environment, Language};
use tauri::{WebviewUrl, WebviewWindowBuilder, webview::PageLoadEvent};

/// How the window system classes it, so that policies tell it from our other windows.
pub(crate) const NAME: &str = "openspace-practice";

/// Shows the window until it is closed.
#[expect(clippy::exit, reason = "what the macro of the context contains")]
pub(crate) fn show() -> Result<(), String> {
    let environment = Environment::of_this_process();
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| environment.text(name));
    let language = Language::of_locale(locale.unwrap_or_default());
    let texts = Catalogue::load(language).map_err(|error| error.to_string())?;
    let title = texts.render("practice.title", &[]);
    let parts = [
        "title", "about", "name", "topic", "agree", "add", "list", "none",
    ];
    let said: serde_json::Map<_, _> = parts
        .into_iter()
        .map(|part| {
            let text = texts.render(&format!("practice.{part}"), &[]);
            (part.to_owned(), text.into())
        })
        .collect();
    let said = serde_json::Value::Object(said);
    let page = format!("practice.html?lang={}", language.tag());
    tauri::Builder::default()
        .setup(move |app| {
            // A folder of its own for the web view, gone with the window.
            WebviewWindowBuilder::new(app, "practice", WebviewUrl::App(page.into()))
                .title(title)
                .inner_size(640.0, 480.0)
                .incognito(true)
                .on_page_load(move |window, load| {
                    if load.event() == PageLoadEvent::Finished
                        && let Err(error) = window.eval(format!("say({said})"))
                    {
                        super::log(&error);
                    }
                })
                .build()?;
            Ok(())
        })
        .run(tauri::generate_context!("tauri.conf.json"))
        .map_err(|error| error.to_string())
}
