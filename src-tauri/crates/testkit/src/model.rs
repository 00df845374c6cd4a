//! A model over HTTP that does what a script says and checks every request it gets.
//!
//! It speaks Anthropic Messages (`/v1/messages`), OpenAI Responses (`/v1/responses`) and OpenAI
//! Chat Completions (`/v1/chat/completions`), streamed or not. A request that breaks a rule gets
//! the answer the real service would give and is remembered in [`ModelServer::violations`]; a
//! test ends with [`ModelServer::assert_clean`].
//!
//! ```no_run
//! use openspace_testkit::{ModelServer, Script, SeenRequest, Turn};
//!
//! // Clicks whatever says "Save" until it is gone, then reports.
//! let server = ModelServer::start(Script::decide(|seen: &SeenRequest| {
//!     if seen.newest_image().is_none() {
//!         return Turn::screenshot();
//!     }
//!     match seen.find_text("Save") {
//!         Some(point) => Turn::click_at(point),
//!         None => Turn::done("Saved."),
//!     }
//! })).unwrap();
//! let base = server.url(); // ANTHROPIC_BASE_URL; `server.openai_url()` ends in /v1
//! server.assert_clean();
//! ```

mod answer;
mod check;
mod read;
mod refusal;
mod rules;
mod seen;
mod server;
mod socket;
mod turn;

pub use rules::{ImageClass, KEY, Rules};
pub use seen::{Dialect, Part, Said, SeenImage, SeenRequest, SeenResult, SeenTool, Speaker};
pub use server::{ModelServer, Violation};
pub use turn::{Call, Fault, Script, Stop, Turn, Usage};
