//! Programs to be operated, which write down what really reached them.

mod gtk;
mod keys;
mod raw;

pub use gtk::{GtkEvent, GtkTarget};
pub use raw::{Happened, Patch, RawTarget, TargetEvent, Window};
