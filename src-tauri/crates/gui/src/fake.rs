//! A screen and a keyboard in memory, for the tests of this crate.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use openspace_grounding::{
    Action, ArtefactId, CallContext, ChangeId, Denied, Folders, FrameId, Gate, ImageLimits, Keep,
    NewChange, NewFrame, Permit, RunId, ToolError,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Button, Capture, Element, Elements, Held, Input, InputError, InputPoint, InputRect, Key,
    Monitor, OffLimits, Screen, ScreenError, ScreenState, TellHeld, Tree, TypeOptions, Window,
};

/// What an input does to the picture and the windows.
type React = Box<dyn Fn(&mut State, &str) + Send>;

/// Something that happens by itself.
type Change = Box<dyn FnOnce(&mut State) + Send>;

/// All there is: a picture, windows, a pointer, and what was pressed.
pub(crate) struct State {
    pub(crate) monitors: Vec<Monitor>,
    pub(crate) picture: Capture,
    pub(crate) windows: Vec<Window>,
    pub(crate) focused: Option<u64>,
    pub(crate) pointer: InputPoint,
    pub(crate) usable: ScreenState,
    pub(crate) clipboard: Option<String>,
    /// Everything injected, in words.
    pub(crate) log: Vec<String>,
    pub(crate) held: Held,
    pub(crate) captures: usize,
    /// Done while a picture is taken, once.
    pub(crate) at_capture: Option<Change>,
    pub(crate) lag: Duration,
    react: Option<React>,
}

impl State {
    /// Paints a block, so that the picture differs.
    pub(crate) fn paint(&mut self, x: u32, y: u32, edge: u32, shade: u8) {
        for row in y..y + edge {
            for column in x..x + edge {
                let at = ((row * self.picture.width + column) * 4) as usize;
                self.picture.bgrx[at..at + 3].fill(shade);
            }
        }
    }

    fn did(&mut self, what: String) {
        if let Some(react) = self.react.take() {
            react(self, &what);
            self.react = Some(react);
        }
        self.log.push(what);
    }
}

/// Shared handle on a [`State`].
#[derive(Clone)]
pub(crate) struct Fake(pub(crate) Arc<Mutex<State>>);

pub(crate) fn window(id: u64, class: &str, x: i32, y: i32, width: u32, height: u32) -> Window {
    Window {
        id,
        pid: Some(100 + u32::try_from(id).unwrap()),
        class: class.into(),
        title: format!("{class} {id}"),
        area: InputRect {
            x,
            y,
            width,
            height,
        },
    }
}

impl Fake {
    /// A screen of 800x600 with a gradient on it and no windows.
    pub(crate) fn new() -> Self {
        let (width, height) = (800, 600);
        let bgrx = (0..height)
            .flat_map(|y| (0..width).flat_map(move |x| [(x / 4) as u8, (y / 4) as u8, 80, 0]))
            .collect();
        Self(Arc::new(Mutex::new(State {
            monitors: vec![Monitor {
                name: "screen".into(),
                area: InputRect {
                    x: 0,
                    y: 0,
                    width,
                    height,
                },
                scale: 1.0,
                primary: true,
            }],
            picture: Capture::new(width, height, bgrx),
            windows: Vec::new(),
            focused: None,
            pointer: InputPoint { x: 0, y: 0 },
            usable: ScreenState::Usable,
            clipboard: None,
            log: Vec::new(),
            held: Held {
                display: ":fake".into(),
                ..Held::default()
            },
            captures: 0,
            at_capture: None,
            lag: Duration::ZERO,
            react: None,
        })))
    }

    pub(crate) fn with<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        read(&mut self.0.lock().unwrap())
    }

    pub(crate) fn react(&self, react: impl Fn(&mut State, &str) + Send + 'static) {
        self.with(|state| state.react = Some(Box::new(react)));
    }

    /// Adds a window on top and gives it the focus.
    pub(crate) fn open(&self, window: Window) {
        self.with(|state| {
            state.focused = Some(window.id);
            state.windows.push(window);
        });
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.with(|state| state.log.clone())
    }

    fn act(
        &self,
        what: String,
        may_act: &dyn Fn() -> bool,
        change: impl FnOnce(&mut State),
    ) -> Result<(), InputError> {
        if !may_act() {
            return Err(InputError::Halted);
        }
        self.with(|state| {
            change(state);
            state.did(what);
        });
        Ok(())
    }
}

impl Screen for Fake {
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError> {
        Ok(self.with(|state| state.monitors.clone()))
    }

    fn capture(&self, _: &Monitor) -> Result<Capture, ScreenError> {
        Ok(self.with(|state| {
            state.captures += 1;
            if let Some(change) = state.at_capture.take() {
                change(state);
            }
            state.picture.clone()
        }))
    }

    fn window_at(&self, point: InputPoint) -> Result<Option<Window>, ScreenError> {
        Ok(self.with(|state| {
            let on_top = state.windows.iter().rev();
            on_top
                .clone()
                .find(|window| window.area.contains(point))
                .cloned()
        }))
    }

    fn focused(&self) -> Result<Option<Window>, ScreenError> {
        Ok(self.with(|state| {
            let focused = |window: &&Window| Some(window.id) == state.focused;
            state.windows.iter().find(focused).cloned()
        }))
    }

    fn windows(&self) -> Result<Vec<Window>, ScreenError> {
        Ok(self.with(|state| state.windows.clone()))
    }

    fn lag(&self) -> Result<Duration, ScreenError> {
        Ok(self.with(|state| state.lag))
    }

    fn pointer(&self) -> Result<InputPoint, ScreenError> {
        Ok(self.with(|state| state.pointer))
    }

    fn state(&self) -> Result<ScreenState, ScreenError> {
        Ok(self.with(|state| state.usable))
    }
}

impl Input for Fake {
    fn move_to(&mut self, point: InputPoint, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        self.act(format!("move {},{}", point.x, point.y), may_act, |state| {
            state.pointer = point;
        })
    }

    fn button(
        &mut self,
        button: Button,
        down: bool,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        let way = if down { "down" } else { "up" };
        self.act(format!("{button:?} {way}"), may_act, |state| {
            state.held.buttons.retain(|held| *held != button);
            if down {
                state.held.buttons.push(button);
            }
        })
    }

    fn scroll(
        &mut self,
        right: i32,
        down: i32,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        self.act(format!("scroll {right},{down}"), may_act, |_| {})
    }

    fn key(&mut self, key: Key, down: bool, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        let way = if down { "down" } else { "up" };
        self.act(
            format!("key {} {way}", crate::key::name(key)),
            may_act,
            |state| {
                state.held.keycodes.retain(|held| *held != key.0);
                if down {
                    state.held.keycodes.push(key.0);
                }
            },
        )
    }

    fn type_text(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        for character in text.chars() {
            self.act(format!("type {character}"), may_act, |_| {})?;
            std::thread::sleep(options.delay);
        }
        Ok(())
    }

    fn clipboard(&mut self) -> Result<Option<String>, InputError> {
        Ok(self.with(|state| state.clipboard.clone()))
    }

    fn set_clipboard(&mut self, text: &str) -> Result<(), InputError> {
        self.with(|state| state.clipboard = Some(text.into()));
        Ok(())
    }

    fn held(&self) -> Held {
        self.with(|state| state.held.clone())
    }

    fn report_to(&mut self, _: Option<TellHeld>) {}

    fn release_all(&mut self) -> Result<(), InputError> {
        self.with(|state| {
            state.held = Held {
                display: ":fake".into(),
                ..Held::default()
            };
            state.log.push("release all".into());
        });
        Ok(())
    }
}

/// A fixed list of elements.
pub(crate) struct FakeTree(pub(crate) Mutex<Vec<Element>>);

impl Tree for FakeTree {
    fn element_at(&self, point: InputPoint, _: std::time::Instant) -> Option<Element> {
        let elements = self.0.lock().unwrap();
        elements
            .iter()
            .rev()
            .find(|element| element.area.contains(point))
            .cloned()
    }

    fn focused(&self, _: std::time::Instant) -> Option<Element> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .find(|element| element.focused)
            .cloned()
    }

    fn elements(&self, _: &Window, _: std::time::Instant) -> Elements {
        Elements {
            elements: self.0.lock().unwrap().clone(),
            complete: true,
        }
    }

    fn passwords(&self, _: std::time::Instant) -> Vec<InputRect> {
        let elements = self.0.lock().unwrap();
        elements
            .iter()
            .filter(|element| element.password)
            .map(|element| element.area)
            .collect()
    }
}

pub(crate) fn element(role: &str, name: &str, x: i32, y: i32) -> Element {
    Element {
        role: role.into(),
        name: name.into(),
        value: None,
        area: InputRect {
            x,
            y,
            width: 80,
            height: 20,
        },
        depth: 1,
        focused: false,
        enabled: true,
        password: false,
    }
}

/// Windows of class `openspace` are ours; Ctrl+Alt+period stops.
pub(crate) struct Ours;

impl OffLimits for Ours {
    fn is_own(&self, window: &Window) -> bool {
        window.class == "openspace"
    }

    fn stop_chord(&self) -> Vec<Key> {
        vec![Key(0xffe3), Key(0xffe9), Key(0x2e)]
    }
}

/// Answers questions from a list, and remembers them.
pub(crate) struct FakeGate {
    pub(crate) asked: Mutex<Vec<Vec<Action>>>,
    pub(crate) answers: Mutex<VecDeque<Result<Permit, Denied>>>,
    pub(crate) running: AtomicBool,
    pub(crate) acquired: AtomicUsize,
    /// Done while somebody is asked.
    pub(crate) meanwhile: Mutex<Option<Box<dyn Fn() + Send>>>,
}

#[async_trait]
impl Gate for FakeGate {
    async fn permit(&self, actions: &[Action]) -> Result<Permit, Denied> {
        self.asked.lock().unwrap().push(actions.to_vec());
        if let Some(meanwhile) = &*self.meanwhile.lock().unwrap() {
            meanwhile();
        }
        let answer = self.answers.lock().unwrap().pop_front();
        answer.unwrap_or(Ok(Permit::Immediate))
    }

    fn may_act(&self) -> bool {
        self.running.load(Ordering::SeqCst)
    }

    async fn acquire_control(&self) -> Result<(), ToolError> {
        self.acquired.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Keeps everything in lists.
#[derive(Default)]
pub(crate) struct FakeKeep {
    pub(crate) frames: Mutex<Vec<NewFrame>>,
    pub(crate) held: Mutex<Vec<Value>>,
}

#[async_trait]
impl Keep for FakeKeep {
    async fn frame(&self, frame: NewFrame) -> Result<FrameId, ToolError> {
        self.frames.lock().unwrap().push(frame);
        Ok(FrameId::random())
    }

    async fn artefact(&self, _: &str, _: &str, _: Bytes) -> Result<ArtefactId, ToolError> {
        Err(ToolError::Failed("not here".into()))
    }

    async fn read_artefact(&self, _: &ArtefactId, _: u64, _: u64) -> Result<Bytes, ToolError> {
        Err(ToolError::Failed("not here".into()))
    }

    async fn change(&self, _: NewChange) -> Result<ChangeId, ToolError> {
        Err(ToolError::Failed("not here".into()))
    }

    async fn group_started(&self, _: u32) -> Result<(), ToolError> {
        Ok(())
    }

    async fn group_ended(&self, _: u32) {}

    fn held(&self, state: &Value) {
        self.held.lock().unwrap().push(state.clone());
    }
}

/// A gate and a keep with the context that names them.
pub(crate) struct Surroundings {
    pub(crate) gate: Arc<FakeGate>,
    pub(crate) keep: Arc<FakeKeep>,
    pub(crate) context: CallContext,
}

pub(crate) fn surroundings() -> Surroundings {
    let gate = Arc::new(FakeGate {
        asked: Mutex::default(),
        answers: Mutex::default(),
        running: AtomicBool::new(true),
        acquired: AtomicUsize::new(0),
        meanwhile: Mutex::new(None),
    });
    let keep = Arc::new(FakeKeep::default());
    let context = CallContext {
        run: RunId::random(),
        step: 1,
        call: "call-1".into(),
        cancel: CancellationToken::new(),
        gate: gate.clone(),
        keep: keep.clone(),
        folders: Arc::new(Folders {
            workspace: "/w".into(),
            allowed: vec![],
            protected: vec![],
            scratch: "/s".into(),
        }),
    };
    Surroundings {
        gate,
        keep,
        context,
    }
}

pub(crate) fn limits() -> ImageLimits {
    ImageLimits {
        max_edge: 1568,
        max_patches: 1568,
        max_edge_many: 2000,
        many: 20,
        max_images: 100,
        max_request_bytes: 32 << 20,
        max_image_bytes: 10 << 20,
    }
}
