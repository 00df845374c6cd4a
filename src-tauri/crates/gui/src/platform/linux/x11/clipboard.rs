//! The clipboard: reading it, and owning it while there is something of ours on it.
//!
//! ICCCM section 2: the owner of a selection is asked by every program that pastes, so it needs a
//! thread that answers.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, EventMask, PropMode, Property, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::InputError;

use super::connection::Display;
use super::wait::{Wake, Waker, Woken, event_until, waker};

/// How long a program may take to hand over what it has on the clipboard.
const ANSWER: Duration = Duration::from_millis(1500);

/// How much text is read from the clipboard.
const LONGEST: usize = 16 << 20;

/// Our end of the clipboard.
pub(crate) struct Clipboard {
    name: String,
    authority: Option<PathBuf>,
    owner: Option<Owner>,
}

/// What is put on the clipboard.
#[derive(Default)]
struct Content {
    text: String,
    /// Programs that keep a history are asked to leave it out.
    secret: bool,
}

/// The thread that answers those who paste.
struct Owner {
    contents: Sender<(Content, Sender<Result<(), ReplyError>>)>,
    waker: Option<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Clipboard {
    /// Prepares reading; the thread starts when something is put on the clipboard.
    pub(crate) fn new(display: &Display, authority: Option<&Path>) -> Self {
        Self {
            name: display.name.clone(),
            authority: authority.map(Path::to_owned),
            owner: None,
        }
    }

    /// The text on the clipboard; `None` when there is none or its owner does not answer in time.
    pub(crate) fn read(display: &Display) -> Result<Option<String>, InputError> {
        // A window of its own for every reading: an owner that comes too late, or is still sending
        // pieces that nobody waits for, must not get into the next one.
        let window = display.hidden_window()?;
        let text = read_into(display, window);
        display.conn.destroy_window(window)?;
        text
    }

    /// Puts text on the clipboard.
    pub(crate) fn set(&mut self, text: &str) -> Result<(), InputError> {
        self.put(text, false)
    }

    /// Puts text on the clipboard that no history of it shall keep.
    pub(crate) fn set_secret(&mut self, text: &str) -> Result<(), InputError> {
        self.put(text, true)
    }

    fn put(&mut self, text: &str, secret: bool) -> Result<(), InputError> {
        if self
            .owner
            .as_ref()
            .is_none_or(|owner| owner.thread.as_ref().is_none_or(JoinHandle::is_finished))
        {
            self.owner = Some(Owner::start(&self.name, self.authority.as_deref())?);
        }
        let Some(owner) = &self.owner else {
            return Ok(());
        };
        let ended = || InputError::Lost("the clipboard thread ended".into());
        let (done, answer) = channel();
        let content = Content {
            text: text.to_owned(),
            secret,
        };
        owner.contents.send((content, done)).map_err(|_| ended())?;
        if let Some(waker) = &owner.waker {
            waker.wake();
        }
        answer.recv_timeout(ANSWER).map_err(|_| ended())??;
        Ok(())
    }
}

/// What an owner says to a request.
enum Reply {
    Content(Vec<u8>),
    /// It has nothing of that kind.
    Refused,
    /// It does not answer, or has more than anybody pastes.
    Late,
}

fn read_into(display: &Display, window: Window) -> Result<Option<String>, InputError> {
    let (conn, atoms) = (&display.conn, &display.atoms);
    if conn.get_selection_owner(atoms.CLIPBOARD)?.reply()?.owner == x11rb::NONE {
        return Ok(None);
    }
    match request(display, window, atoms.UTF8_STRING)? {
        Reply::Content(text) => return Ok(Some(String::from_utf8_lossy(&text).into_owned())),
        Reply::Late => return Ok(None),
        Reply::Refused => {}
    }
    // Programs of old offer Latin-1 alone.
    match request(display, window, AtomEnum::STRING.into())? {
        Reply::Content(text) => Ok(Some(text.into_iter().map(char::from).collect())),
        Reply::Late | Reply::Refused => Ok(None),
    }
}

fn request(display: &Display, window: Window, target: u32) -> Result<Reply, InputError> {
    let (conn, atoms) = (&display.conn, &display.atoms);
    let place = atoms.OPENSPACE_CLIPBOARD;
    conn.convert_selection(window, atoms.CLIPBOARD, target, place, x11rb::CURRENT_TIME)?;
    let mut deadline = Instant::now() + ANSWER;
    loop {
        match event_until(conn, deadline)? {
            None => return Ok(Reply::Late),
            Some(Event::SelectionNotify(note))
                if note.requestor == window && note.target == target =>
            {
                if note.property == x11rb::NONE {
                    return Ok(Reply::Refused);
                }
                break;
            }
            Some(_) => {}
        }
    }
    let (kind, first) = take(display, window)?;
    if kind != atoms.INCR {
        return Ok(Reply::Content(first));
    }
    // Deleting the announcement asked for the first piece; an empty piece is the last.
    let mut whole = Vec::new();
    deadline = Instant::now() + ANSWER;
    while let Some(event) = event_until(conn, deadline)? {
        let Event::PropertyNotify(note) = event else {
            continue;
        };
        let piece_is_there =
            note.window == window && note.atom == place && note.state == Property::NEW_VALUE;
        if !piece_is_there {
            continue;
        }
        let (_, piece) = take(display, window)?;
        if piece.is_empty() {
            return Ok(Reply::Content(whole));
        }
        whole.extend_from_slice(&piece);
        if whole.len() > LONGEST {
            break;
        }
        deadline = Instant::now() + ANSWER;
    }
    Ok(Reply::Late)
}

fn take(display: &Display, window: Window) -> Result<(u32, Vec<u8>), InputError> {
    let length = (LONGEST / 4) as u32;
    let place = display.atoms.OPENSPACE_CLIPBOARD;
    let property = display
        .conn
        .get_property(true, window, place, AtomEnum::ANY, 0, length)?;
    let reply = property.reply()?;
    Ok((reply.type_, reply.value))
}

impl Owner {
    fn start(name: &str, authority: Option<&Path>) -> Result<Self, InputError> {
        let lost = |error: &dyn std::fmt::Display| InputError::Lost(error.to_string());
        let display = Display::open(name, authority).map_err(|error| lost(&error))?;
        let window = display.hidden_window()?;
        let (waker, wake) = waker().map_err(|error| lost(&error))?;
        let (contents, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("clipboard".into())
            .spawn(move || {
                if let Err(error) = answer(&display, window, &wake, &queue) {
                    tracing::warn!(%error, "the clipboard is no longer ours");
                }
            })
            .map_err(|error| lost(&error))?;
        Ok(Self {
            contents,
            waker: Some(waker),
            thread: Some(thread),
        })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.waker = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

type Contents = Receiver<(Content, Sender<Result<(), ReplyError>>)>;

fn answer(
    display: &Display,
    window: Window,
    wake: &Wake,
    queue: &Contents,
) -> Result<(), ReplyError> {
    let conn = &display.conn;
    let clipboard = display.atoms.CLIPBOARD;
    let mut content = Content::default();
    loop {
        match wake.wait(conn)? {
            Woken::Dropped => return Ok(()),
            Woken::Called => {
                while let Ok((next, done)) = queue.try_recv() {
                    content = next;
                    let owned = conn
                        .set_selection_owner(window, clipboard, x11rb::CURRENT_TIME)
                        .map_err(ReplyError::from)
                        .and_then(|_| display.sync());
                    // Whoever asked may have stopped waiting.
                    let _ = done.send(owned);
                }
            }
            Woken::Event(Event::SelectionClear(_)) => content = Content::default(),
            Woken::Event(Event::SelectionRequest(request)) => {
                hand_over(display, &request, &content)?;
                conn.flush()?;
            }
            Woken::Event(_) => {}
        }
    }
}

fn hand_over(
    display: &Display,
    request: &SelectionRequestEvent,
    content: &Content,
) -> Result<(), ReplyError> {
    let (conn, atoms) = (&display.conn, &display.atoms);
    let text = content.text.as_str();
    let string = u32::from(AtomEnum::STRING);
    // Clients of old name no property and mean the target.
    let place = if request.property == x11rb::NONE {
        request.target
    } else {
        request.property
    };
    let latin1: Vec<u8>;
    let (kind, bytes) = if request.target == atoms.TARGETS {
        let mut offered = vec![
            atoms.TARGETS,
            atoms.UTF8_STRING,
            atoms.TEXT_PLAIN_UTF8,
            atoms.TEXT,
            string,
        ];
        if content.secret {
            offered.push(atoms.PASSWORD_MANAGER_HINT);
        }
        conn.change_property32(
            PropMode::REPLACE,
            request.requestor,
            place,
            AtomEnum::ATOM,
            &offered,
        )?;
        return notify(display, request, place);
    } else if request.target == atoms.UTF8_STRING || request.target == atoms.TEXT {
        (atoms.UTF8_STRING, text.as_bytes())
    } else if request.target == atoms.TEXT_PLAIN_UTF8 {
        (request.target, text.as_bytes())
    } else if content.secret && request.target == atoms.PASSWORD_MANAGER_HINT {
        // As KeePassXC says it and Klipper reads it.
        (request.target, b"secret".as_slice())
    } else if request.target == string {
        latin1 = text
            .chars()
            .map(|it| u8::try_from(u32::from(it)).unwrap_or(b'?'))
            .collect();
        (string, latin1.as_slice())
    } else {
        return notify(display, request, x11rb::NONE);
    };
    // What does not fit into one request would have to go in pieces; nobody pastes that much.
    if bytes.len() + 64 > conn.maximum_request_bytes() {
        return notify(display, request, x11rb::NONE);
    }
    conn.change_property8(PropMode::REPLACE, request.requestor, place, kind, bytes)?;
    notify(display, request, place)
}

fn notify(
    display: &Display,
    request: &SelectionRequestEvent,
    place: u32,
) -> Result<(), ReplyError> {
    let event = SelectionNotifyEvent {
        response_type: SELECTION_NOTIFY_EVENT,
        sequence: 0,
        time: request.time,
        requestor: request.requestor,
        selection: request.selection,
        target: request.target,
        property: place,
    };
    display
        .conn
        .send_event(false, request.requestor, EventMask::NO_EVENT, event)?;
    Ok(())
}
