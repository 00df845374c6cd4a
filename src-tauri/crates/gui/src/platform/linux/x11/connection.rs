//! Connecting to a display, and what every part asks of it.

use std::io::ErrorKind;
use std::path::Path;

use x11rb::connection::Connection as _;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::xproto::{self, ConnectionExt as _};
use x11rb::reexports::x11rb_protocol::{parse_display, xauth};
use x11rb::rust_connection::RustConnection;

use crate::{InputError, ScreenError};

use super::authority;
use super::stream::{Bounded, FIRST};

x11rb::atom_manager! {
    /// The names we use, as the server numbers them.
    pub(crate) Atoms: AtomsCookie {
        CLIPBOARD,
        INCR,
        OPENSPACE_CLIPBOARD,
        PASSWORD_MANAGER_HINT: b"x-kde-passwordManagerHint",
        STRING,
        TARGETS,
        TEXT,
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
        TIMESTAMP,
        UTF8_STRING,
        WM_PROTOCOLS,
        WM_STATE,
        _NET_ACTIVE_WINDOW,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_OPAQUE_REGION,
        _NET_WM_PING,
        _NET_WM_WINDOW_OPACITY,
    }
}

/// Display `n` listens on port 6000 + n.
const LAST_DISPLAY: u16 = u16::MAX - 6000;

/// What requests go through.
pub(crate) type Conn = RustConnection<Bounded>;

/// One connection to a display.
pub(crate) struct Display {
    /// The connection. Requests are buffered until flushed or answered.
    pub(crate) conn: Conn,
    /// The root window of the screen the name selects.
    pub(crate) root: xproto::Window,
    /// Index of that screen.
    pub(crate) screen: usize,
    /// The name it was opened by.
    pub(crate) name: String,
    /// Interned names.
    pub(crate) atoms: Atoms,
}

impl Display {
    /// Connects to `name`, with the cookie of `file` or, without one, as every X client does.
    pub(crate) fn open(name: &str, file: Option<&Path>) -> Result<Self, ScreenError> {
        let parsed = match parse_display::parse_display(Some(name)) {
            // x11rb adds it to the port 6000 without a check.
            Ok(parsed) if parsed.display > LAST_DISPLAY => return Err(misnamed(name)),
            Ok(parsed) => parsed,
            Err(error) => return Err(unreachable_display(name, &error.into())),
        };
        let (conn, screen) =
            connect(&parsed, file).map_err(|error| unreachable_display(name, &error))?;
        let root = conn.setup().roots[screen].root;
        let atoms = Atoms::new(&conn)?.reply().map_err(|error| match error {
            ReplyError::ConnectionError(ConnectionError::IoError(error)) => {
                unreachable_display(name, &error.into())
            }
            error => error.into(),
        })?;
        conn.stream().be_patient();
        Ok(Self {
            conn,
            root,
            screen,
            name: name.to_owned(),
            atoms,
        })
    }

    /// Refuses with a sentence a person can act on when an extension is missing.
    pub(crate) fn require(&self, extension: &'static str) -> Result<(), ScreenError> {
        use x11rb::connection::RequestConnection as _;
        if self.conn.extension_information(extension)?.is_some() {
            return Ok(());
        }
        Err(ScreenError::NoDisplay(format!(
            "the X server at `{}` lacks the {extension} extension; enable it in the server's \
             configuration or use another display",
            self.name
        )))
    }

    /// Waits until the server has processed everything sent so far.
    pub(crate) fn sync(&self) -> Result<(), ReplyError> {
        self.conn.get_input_focus()?.reply()?;
        Ok(())
    }

    /// A window nobody sees, to own selections and receive messages.
    pub(crate) fn hidden_window(&self) -> Result<xproto::Window, ReplyOrIdError> {
        let window = self.conn.generate_id()?;
        self.conn.create_window(
            0,
            window,
            self.root,
            -10,
            -10,
            1,
            1,
            0,
            xproto::WindowClass::INPUT_ONLY,
            x11rb::COPY_FROM_PARENT,
            &xproto::CreateWindowAux::new()
                .override_redirect(1)
                .event_mask(xproto::EventMask::PROPERTY_CHANGE),
        )?;
        Ok(window)
    }
}

fn connect(
    parsed: &parse_display::ParsedDisplay,
    file: Option<&Path>,
) -> Result<(Conn, usize), ConnectError> {
    let screen = usize::from(parsed.screen);
    let own = file.map(|file| authority::cookie(file, parsed.display));
    let own = own
        .transpose()?
        .map(|cookie| cookie.map(|data| (authority::COOKIE.to_vec(), data)));
    let (stream, (family, address)) = Bounded::connect(parsed)?;
    // Without a cookie some servers let us in all the same.
    let usual = || xauth::get_auth(family, &address, parsed.display).unwrap_or_default();
    let (scheme, data) = own.unwrap_or_else(usual).unwrap_or_default();
    let conn = Conn::connect_to_stream_with_auth_info(stream, screen, scheme, data)?;
    Ok((conn, screen))
}

fn unreachable_display(name: &str, error: &ConnectError) -> ScreenError {
    ScreenError::NoDisplay(match error {
        ConnectError::IoError(error) if error.kind() == ErrorKind::TimedOut => format!(
            "the display `{name}` does not answer within {} seconds, so its X server is frozen; end \
             or wake it, set `DISPLAY` to another one, or run the task on a private display",
            FIRST.as_secs()
        ),
        ConnectError::IoError(error) => format!(
            "no X server answers at `{name}` ({error}); is the desktop session still running?"
        ),
        ConnectError::SetupFailed(_) | ConnectError::SetupAuthenticate(_) => format!(
            "the X server at `{name}` does not let us in ({error}); start from inside the \
             session, or set `XAUTHORITY` to the authority file of the session"
        ),
        ConnectError::DisplayParsingError(_) => return misnamed(name),
        ConnectError::InvalidScreen => {
            format!("the X server at `{name}` has no screen of that number; try without `.N`")
        }
        error => format!("connecting to the X server at `{name}` did not work: {error}"),
    })
}

fn misnamed(name: &str) -> ScreenError {
    ScreenError::NoDisplay(format!(
        "`{name}` is not the name of an X display; one looks like `:0`"
    ))
}

/// A failed request on a living connection is as fatal for what was asked as a broken one.
macro_rules! lost {
    ($($error:ty),*) => {$(
        impl From<$error> for ScreenError {
            fn from(error: $error) -> Self {
                Self::Lost(error.to_string())
            }
        }
        impl From<$error> for InputError {
            fn from(error: $error) -> Self {
                Self::Lost(error.to_string())
            }
        }
    )*};
}
lost!(ConnectionError, ReplyError, ReplyOrIdError);
