//! The pages and the window: how fast they appear, answer and stop, and what they cost.

mod desk;
mod idle;
mod package;
mod pages;
mod start;
mod stop;

use anyhow::Result;

use crate::{Effort, figure::Report};

/// Every figure of the pages and the window.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    // What is short and wants a quiet machine comes first.
    start::measure(effort, report)?;
    stop::measure(effort, report)?;
    idle::measure(report)?;
    package::measure(report)?;
    pages::measure(effort, report)
}
