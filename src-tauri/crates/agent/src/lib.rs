//! The loop: a pure step function and the driver that performs what it asks for.
//!
//! [`step`] turns a [`State`] and an [`Event`] into a new state and [`Effect`]s, without IO, clock or
//! randomness; [`drive`] performs the effects with everything in [`Parts`]. [`Control`] and the back ends
//! are what it acts through, the store's rows are how others talk to it.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod brake;
mod calls;
mod compact;
mod drive;
mod effect;
mod event;
mod flags;
mod gate;
mod limits;
mod model_call;
mod prompts;
mod state;
mod step;
mod transcript;
mod turn_end;

pub use brake::Brake;
pub use calls::KeepForCall;
pub use drive::{Parts, ScreenWatch, announce, drive};
pub use effect::{Effect, Outcome, Reason};
pub use event::{CallResult, Event, Pause};
pub use gate::{Attendance, Control};
pub use limits::{Limit, Limits, Used, cost};
pub use prompts::{Surroundings, system};
pub use state::State;
pub use step::{TURN_ENDING_TOOLS, changed_files, step};
pub use transcript::{PictureSource, Pictures, from_stored, to_stored};
pub use turn_end::turn_ending_tools;
