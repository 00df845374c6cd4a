//! What a window toolkit does for the desk.

use super::{Area, Ask, PillView, Place, Told, TrayView};
use crate::rpc::desktop::HotkeyName;

/// What is done once a question is answered; true for the answer that does something.
pub type Then = Box<dyn FnOnce(bool) + Send>;

/// Shows what a [`Desk`](super::Desk) has to show, and tells it what a person does.
pub trait Face: Send + Sync {
    /// Brings the main window to the person, at a page where one is given.
    fn focus(&self, page: Option<&str>);

    /// The person looks at the main window.
    fn is_looked_at(&self) -> bool;

    /// The main window is shown, wherever the person looks.
    fn is_shown(&self) -> bool;

    /// Where the main window is; none where it cannot be told.
    fn place(&self) -> Option<Place>;

    /// Where the main window is seen, in the pixels of the desktop; none while it is hidden or minimised.
    fn seen(&self) -> Option<Area>;

    /// Minimises the main window, or shows it again as it was.
    fn minimise(&self, away: bool);

    /// Shows the quick window; takes it away where it has the focus already.
    fn turn_quick(&self);

    /// Shows icon and menu.
    fn show_tray(&self, tray: &TrayView);

    /// Shows the pill, or what changed in it. `kept` is where the person put it last.
    fn show_pill(&self, pill: &PillView, kept: Option<(f64, f64)>);

    /// Takes the pill away and says where the person put it, where it was shown.
    fn take_pill(&self) -> Option<(f64, f64)>;

    /// Shows a notification.
    fn notify(&self, told: &Told);

    /// Asks, natively: it must work where no page does.
    fn ask(&self, ask: Ask, then: Then);

    /// Gives up all hotkeys, so that they can be taken anew.
    fn free_hotkeys(&self) -> Result<(), String>;

    /// Takes keys that work whatever has the focus; says why not.
    fn take_hotkey(&self, name: HotkeyName, keys: &str) -> Result<(), String>;

    /// Version of what shows the windows, where it can be told.
    fn web_view(&self) -> Option<String>;

    /// This build can be updated.
    fn has_updates(&self) -> bool;

    /// Looks for an update because a person asked.
    fn look_for_updates(&self);

    /// Takes away everything that outlives the process, before it becomes another one.
    fn clean_up(&self);

    /// Ends the process and starts the program anew.
    #[cfg(target_os = "linux")]
    fn restart(&self) {
        self.clean_up();
        let error = super::graphics::start_again();
        tracing::error!(%error, "starting again");
        self.exit(1);
    }

    /// The same.
    #[cfg(not(target_os = "linux"))]
    fn restart(&self);

    /// Ends the process.
    fn exit(&self, code: i32);
}
