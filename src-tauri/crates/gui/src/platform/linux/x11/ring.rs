//! The ring around the place of the next click: one shaped window, moved by a thread of its own so that
//! nobody waits for the server.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, Rectangle, StackMode, Window,
};

use crate::ring::{DrawRing, SQUARE, STAY, lines};
use crate::{InputPoint, InputRect, ScreenError};

use super::connection::Display;
use super::overlay;

/// Draws the ring on an X display.
pub struct RingWindow {
    window: Window,
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Show(InputPoint, Instant),
    Hide(SyncSender<()>),
}

impl RingWindow {
    /// Prepares the ring in `colour` (`0xRRGGBB`), with `title` for whoever lists windows.
    pub fn open(
        name: &str,
        authority: Option<&Path>,
        colour: u32,
        title: &str,
    ) -> Result<Self, ScreenError> {
        let display = overlay::connect(name, authority)?;
        let (edge, _) = SQUARE;
        let area = InputRect {
            x: 0,
            y: 0,
            width: edge,
            height: edge,
        };
        let line = |(x, y, width)| Rectangle {
            x,
            y,
            width,
            height: 1,
        };
        let shape: Vec<_> = lines().into_iter().map(line).collect();
        let window = overlay::window(&display, area, colour, title, Some(&shape))?;
        display.sync()?;
        let (orders, taken) = channel();
        let thread = std::thread::Builder::new()
            .name("target-ring".into())
            .spawn(move || {
                if let Err(error) = draw(&display, window, &taken) {
                    tracing::info!(%error, "the ring is not shown any more");
                }
            })
            .map_err(|error| ScreenError::Lost(error.to_string()))?;
        Ok(Self {
            window,
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A display that is gone shows no ring.
            let _gone = orders.send(order);
        }
    }
}

impl DrawRing for RingWindow {
    fn show(&mut self, at: InputPoint) {
        self.order(Order::Show(at, Instant::now()));
    }

    fn hide(&mut self) {
        let (done, gone) = sync_channel(1);
        self.order(Order::Hide(done));
        let _ended = gone.recv();
    }

    fn window(&self) -> u64 {
        self.window.into()
    }
}

impl Drop for RingWindow {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

/// Follows orders until there will be no more; the window goes with the connection.
fn draw(display: &Display, window: Window, orders: &Receiver<Order>) -> Result<(), ScreenError> {
    let conn = &display.conn;
    let mut until: Option<Instant> = None;
    loop {
        let order = match until {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => orders.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match order {
            Ok(Order::Show(at, asked)) => {
                let (_, middle) = SQUARE;
                let place = ConfigureWindowAux::new()
                    .x(at.x - middle)
                    .y(at.y - middle)
                    .stack_mode(StackMode::ABOVE);
                conn.configure_window(window, &place)?;
                conn.map_window(window)?;
                conn.flush()?;
                until = Some(asked + STAY);
            }
            Ok(Order::Hide(done)) => {
                conn.unmap_window(window)?;
                display.sync()?;
                until = None;
                let _nobody = done.send(());
            }
            Err(RecvTimeoutError::Timeout) => {
                conn.unmap_window(window)?;
                conn.flush()?;
                until = None;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
