//! Which key to press for a symbol, and putting symbols on keys that have none.
//!
//! A program translates a key with its own copy of the keyboard, which it renews when it comes to
//! the server's note that the keyboard changed. That note and the keys stand in one queue, so a
//! new symbol is always understood. What must not happen is that a key changes its meaning while a
//! program still has presses of it to translate: so a key is given a new symbol only when the
//! focused program has answered a ping sent after the last press, or a second has passed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    self, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
    Keysym,
};

use crate::InputError;

use super::connection::Display;
use super::layout::{CORE_KEYBOARD, Layout, Stroke};
use super::wait::event_until;
use super::window;

/// How long a program may be behind with the keys it was sent.
const BEHIND: Duration = Duration::from_secs(1);

/// Pause after giving keys new symbols, for programs that renew their copy beside their queue.
const RENEWAL: Duration = Duration::from_millis(15);

/// A key we gave a symbol.
#[derive(Debug, Clone, Copy)]
struct Lent {
    symbol: Keysym,
    used: Instant,
}

/// Keys we gave symbols, until they are given back.
#[derive(Default)]
pub(crate) struct Keyboard {
    lent: HashMap<u8, Lent>,
}

/// What the keyboard is in the middle of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// Modifiers of keys that are down.
    pub(crate) down: u8,
    /// Modifiers that are locked, such as Caps Lock.
    pub(crate) locked: u8,
    /// Modifiers that wait for the next key.
    pub(crate) latched: u8,
    /// The group keys are read in.
    pub(crate) group: u8,
    /// The part of it that is locked.
    pub(crate) locked_group: u8,
}

impl State {
    /// Asks the server.
    pub(crate) fn read(display: &Display) -> Result<Self, ReplyError> {
        let state = display.conn.xkb_get_state(CORE_KEYBOARD)?.reply()?;
        let bits = |mask: xproto::ModMask| u16::from(mask) as u8;
        Ok(Self {
            down: bits(state.base_mods),
            locked: bits(state.locked_mods),
            latched: bits(state.latched_mods),
            group: u8::from(state.group),
            locked_group: u8::from(state.locked_group),
        })
    }
}

/// Sets the locked modifiers and the locked group, and drops what is latched.
pub(crate) fn lock(display: &Display, modifiers: u8, group: u8) -> Result<(), ReplyError> {
    let all = xproto::ModMask::from(0xffu16);
    xkb::latch_lock_state(
        &display.conn,
        CORE_KEYBOARD,
        all,
        xproto::ModMask::from(u16::from(modifiers)),
        true,
        xkb::Group::from(group & 3),
        all,
        true,
        0,
    )?;
    Ok(())
}

impl Keyboard {
    /// Forgets lent keys that somebody else has given another meaning since.
    pub(crate) fn reconcile(&mut self, layout: &Layout) {
        self.lent
            .retain(|keycode, lent| layout.first_symbol(*keycode) == lent.symbol);
    }

    /// The stroke of a symbol we put on a key.
    pub(crate) fn stroke(&self, symbol: Keysym) -> Option<Stroke> {
        let (keycode, _) = self.lent.iter().find(|(_, lent)| lent.symbol == symbol)?;
        Some(Stroke {
            keycode: *keycode,
            modifiers: 0,
        })
    }

    /// Notes that a key was pressed just now.
    pub(crate) fn used(&mut self, keycode: u8) {
        if let Some(lent) = self.lent.get_mut(&keycode) {
            lent.used = Instant::now();
        }
    }

    /// The keys we gave symbols, with what they had before: nothing.
    pub(crate) fn remapped(&self) -> Vec<(u32, Vec<u32>)> {
        let mut keys: Vec<_> = self
            .lent
            .keys()
            .map(|key| (u32::from(*key), vec![0]))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// How many symbols can be on keys at the same time.
    pub(crate) fn room(&self, layout: &Layout) -> usize {
        self.lent.len() + layout.spare().len()
    }

    /// Puts symbols on keys that mean nothing, taking back those not in `keep` when there are not
    /// enough. At most [`Keyboard::room`] symbols; waits up to a second before a key changes again.
    /// `changing` is told what [`Keyboard::remapped`] will be, right before it is.
    pub(crate) fn lend(
        &mut self,
        display: &Display,
        layout: &Layout,
        wanted: &[Keysym],
        changing: impl FnOnce(Vec<(u32, Vec<u32>)>),
    ) -> Result<(), InputError> {
        let missing: Vec<Keysym> = wanted
            .iter()
            .copied()
            .filter(|symbol| self.stroke(*symbol).is_none())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut keys: Vec<u8> = layout
            .spare()
            .into_iter()
            .filter(|key| !self.lent.contains_key(key))
            .collect();
        if keys.len() < missing.len() {
            let mut old: Vec<(Instant, u8)> = self
                .lent
                .iter()
                .filter(|(_, lent)| !wanted.contains(&lent.symbol))
                .map(|(key, lent)| (lent.used, *key))
                .collect();
            old.sort_unstable();
            old.truncate(missing.len() - keys.len());
            if let Some((latest, _)) = old.last() {
                wait_for_reader(display, *latest + BEHIND)?;
            }
            keys.extend(old.into_iter().map(|(_, key)| key));
        }
        keys.truncate(missing.len());
        if let Some(symbol) = missing.get(keys.len()) {
            return Err(InputError::NoSuchKey(*symbol));
        }
        keys.sort_unstable();
        let used = Instant::now();
        let given: Vec<(u8, Keysym)> = keys.into_iter().zip(missing).collect();
        self.lent.extend(given.iter().map(|(key, symbol)| {
            (
                *key,
                Lent {
                    symbol: *symbol,
                    used,
                },
            )
        }));
        changing(self.remapped());
        set_symbols(display, &given)?;
        display.sync()?;
        std::thread::sleep(RENEWAL);
        Ok(())
    }

    /// Gives every key back, once the focused program has read what was typed with it.
    pub(crate) fn give_back(&mut self, display: &Display) -> Result<(), InputError> {
        let Some(latest) = self.lent.values().map(|lent| lent.used).max() else {
            return Ok(());
        };
        wait_for_reader(display, latest + BEHIND)?;
        let layout = Layout::read(display)?;
        self.reconcile(&layout);
        let mut keys: Vec<(u8, Keysym)> = self.lent.keys().map(|key| (*key, 0)).collect();
        keys.sort_unstable();
        set_symbols(display, &keys)?;
        display.sync()?;
        self.lent.clear();
        Ok(())
    }
}

/// Changes keys, neighbours in one request: every request makes every program renew its copy.
pub(crate) fn set_symbols(display: &Display, keys: &[(u8, Keysym)]) -> Result<(), ReplyError> {
    for run in keys.chunk_by(|(one, _), (next, _)| one + 1 == *next) {
        // The same symbol with and without Shift, so that no modifier can change it.
        let symbols: Vec<Keysym> = run
            .iter()
            .flat_map(|(_, symbol)| [*symbol, *symbol])
            .collect();
        display
            .conn
            .change_keyboard_mapping(run.len() as u8, run[0].0, 2, &symbols)?;
    }
    Ok(())
}

/// Waits until the focused program has read every key sent to it, or until `limit`.
fn wait_for_reader(display: &Display, limit: Instant) -> Result<(), InputError> {
    if Instant::now() >= limit {
        return Ok(());
    }
    // Only programs that say so answer; for the others there is no better than the time limit.
    if ping(display, limit)? {
        return Ok(());
    }
    std::thread::sleep(limit.saturating_duration_since(Instant::now()));
    Ok(())
}

/// Sends a ping as window managers do (EWMH, `_NET_WM_PING`) and waits for its return.
fn ping(display: &Display, limit: Instant) -> Result<bool, InputError> {
    let conn = &display.conn;
    let focus = conn.get_input_focus()?.reply()?.focus;
    if focus <= 1 {
        return Ok(false);
    }
    let Ok(Some(client)) = window::focused_client(display, focus) else {
        return Ok(false);
    };
    let atoms = &display.atoms;
    let speaks = conn
        .get_property(false, client, atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64)?
        .reply()
        .is_ok_and(|property| {
            property
                .value32()
                .is_some_and(|mut all| all.any(|it| it == atoms._NET_WM_PING))
        });
    if !speaks {
        return Ok(false);
    }
    let select = |mask| {
        let change = ChangeWindowAttributesAux::new().event_mask(mask);
        conn.change_window_attributes(display.root, &change)
    };
    select(EventMask::SUBSTRUCTURE_NOTIFY)?;
    // The time stamp comes back as it was sent, so it marks the answer to this very ping.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let stamp = now.map_or(1, |now| now.as_nanos() as u32);
    let message = ClientMessageEvent::new(
        32,
        client,
        atoms.WM_PROTOCOLS,
        [atoms._NET_WM_PING, stamp, client, 0, 0],
    );
    conn.send_event(false, client, EventMask::NO_EVENT, message)?;
    conn.flush()?;
    let mut answered = false;
    while let Some(event) = event_until(conn, limit)? {
        if let Event::ClientMessage(message) = event
            && message.window == display.root
            && message.data.as_data32()[..2] == [atoms._NET_WM_PING, stamp]
        {
            answered = true;
            break;
        }
    }
    select(EventMask::NO_EVENT)?;
    Ok(answered)
}
