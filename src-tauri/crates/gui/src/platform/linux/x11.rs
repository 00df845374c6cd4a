//! X11: capture through shared memory, input through XTEST, what windows there are.

pub(crate) mod authority;
mod capture;
mod clipboard;
pub(crate) mod connection;
pub(crate) mod frame;
pub(crate) mod guard;
pub(crate) mod human;
mod input;
mod keyboard;
mod layout;
mod overlay;
pub(crate) mod ring;
mod screen;
mod stack;
mod stream;
mod wait;
mod window;

pub(crate) use input::X11Input;
pub(crate) use screen::X11Screen;
