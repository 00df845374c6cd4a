//! The accessibility tree: AT-SPI over D-Bus.
//!
//! Names and signatures are those of at-spi2-core's `xml/*.xml`, numbers those of its
//! `atspi/atspi-constants.h`. The calls run on a thread of their own, so that a program that does
//! not answer costs the caller no more than the time it allowed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{Element, Elements, InputPoint, InputRect, Screen, Tree, Window};

use super::x11::X11Screen;

mod bus;
mod walk;

use bus::Bus;

/// How long a connection that failed is not tried again.
const RETRY: Duration = Duration::from_secs(5);

/// The accessibility tree of a session.
pub(crate) struct AtspiTree {
    screen: Arc<X11Screen>,
    questions: UnboundedSender<(Question, Instant)>,
}

/// What can be asked; the answer goes into the channel.
enum Question {
    At(Window, InputPoint, Answer<Option<Element>>),
    Focused(Window, Answer<Option<Element>>),
    Elements(Window, Answer<Elements>),
    Passwords(Answer<Vec<InputRect>>),
}

type Answer<T> = std::sync::mpsc::Sender<T>;

impl AtspiTree {
    /// Starts the thread; it connects when it is first asked, and dies with this value.
    pub(crate) fn start(screen: Arc<X11Screen>, session_bus: Option<String>) -> Option<Self> {
        let (questions, queue) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let started = runtime.and_then(|runtime| {
            std::thread::Builder::new()
                .name("accessibility".into())
                .spawn(move || runtime.block_on(answer(queue, session_bus)))
        });
        if let Err(error) = started {
            tracing::warn!(%error, "no accessibility tree");
            return None;
        }
        Some(Self { screen, questions })
    }

    fn ask<T: Default>(&self, until: Instant, question: impl FnOnce(Answer<T>) -> Question) -> T {
        let (answer, answered) = std::sync::mpsc::channel();
        if self.questions.send((question(answer), until)).is_err() {
            return T::default();
        }
        // No answer in time is as normal as no accessibility at all.
        answered
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .unwrap_or_default()
    }
}

impl Tree for AtspiTree {
    fn element_at(&self, point: InputPoint, until: Instant) -> Option<Element> {
        // The server knows which window is on top; the accessibility bus does not.
        let window = self.screen.window_at(point).ok()??;
        self.ask(until, |answer| Question::At(window, point, answer))
    }

    fn focused(&self, until: Instant) -> Option<Element> {
        let window = self.screen.focused().ok()??;
        self.ask(until, |answer| Question::Focused(window, answer))
    }

    fn elements(&self, window: &Window, until: Instant) -> Elements {
        // The walk stops a little earlier, so that what it has by then arrives in time.
        self.ask(until, |answer| Question::Elements(window.clone(), answer))
    }

    fn passwords(&self, until: Instant) -> Vec<InputRect> {
        self.ask(until, Question::Passwords)
    }
}

async fn answer(mut queue: UnboundedReceiver<(Question, Instant)>, session_bus: Option<String>) {
    let mut bus: Option<Bus> = None;
    let mut failed: Option<Instant> = None;
    while let Some((question, until)) = queue.recv().await {
        let deadline = tokio::time::Instant::from_std(until);
        if bus.as_ref().is_none_or(|bus| !bus.alive()) {
            if failed.is_some_and(|at| at.elapsed() < RETRY) {
                continue;
            }
            bus = None;
            match tokio::time::timeout_at(deadline, Bus::connect(session_bus.as_deref())).await {
                Ok(Ok(connected)) => bus = Some(connected),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "no accessibility bus");
                    failed = Some(Instant::now());
                }
                // Starting the bus may take longer than one lookup; the next one tries again.
                Err(_) => {}
            }
        }
        let Some(bus) = &bus else { continue };
        // Whoever asked may have stopped waiting; then nobody misses the answer.
        match question {
            Question::At(window, point, answer) => {
                if let Ok(element) =
                    tokio::time::timeout_at(deadline, walk::at(bus, &window, point)).await
                {
                    let _ = answer.send(element);
                }
            }
            Question::Focused(window, answer) => {
                if let Ok(element) =
                    tokio::time::timeout_at(deadline, walk::focused(bus, &window)).await
                {
                    let _ = answer.send(element);
                }
            }
            Question::Elements(window, answer) => {
                let _ = answer.send(walk::elements(bus, &window, until).await);
            }
            Question::Passwords(answer) => {
                let _ = answer.send(walk::passwords(bus, until).await);
            }
        }
    }
}
