//! Linux: X11 by ourselves; Wayland is named as the reason when that is all there is.

use std::sync::Arc;

use crate::{ScreenError, Tree};

use super::{Options, Platform};

mod atspi;
pub(super) mod private;
pub(super) mod x11;

/// Opens the X display of `options`.
pub(super) fn open(options: &Options) -> Result<Platform, ScreenError> {
    if options.wayland {
        // XWayland would answer, with a picture that lacks every Wayland window.
        return Err(ScreenError::NoDisplay(
            "this is a Wayland session, where programs may not look at or control other windows; \
             log in to an X11 (Xorg) session, or run the task on a private display"
                .into(),
        ));
    }
    let Some(name) = options.display.as_deref().filter(|name| !name.is_empty()) else {
        return Err(ScreenError::NoDisplay(
            "no X display is known; start from inside a desktop session, set `DISPLAY`, or run \
             the task on a private display"
                .into(),
        ));
    };
    let authority = options.authority.as_deref();
    let screen = Arc::new(x11::X11Screen::open(name, authority)?);
    let input = x11::X11Input::open(name, authority)?;
    let tree = atspi::AtspiTree::start(Arc::clone(&screen), options.session_bus.clone());
    Ok(Platform {
        screen,
        input: Box::new(input),
        tree: tree.map(|tree| Arc::new(tree) as Arc<dyn Tree>),
        display_name: name.to_owned(),
    })
}
