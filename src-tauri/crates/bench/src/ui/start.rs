//! From the start of the process to the first paint.

use std::time::Instant;

use anyhow::Result;

use super::desk::{Desk, end};
use crate::{
    Effort,
    figure::{Report, percentile},
};

/// Starts in the same home again and again, as a person does.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let desk = Desk::new()?;
    // The first start fills the web view's folders.
    end(desk.painted_app()?)?;
    let mut samples = Vec::new();
    for _ in 0..effort.times(30) {
        let started = Instant::now();
        let app = desk.painted_app()?;
        samples.push(started.elapsed());
        end(app)?;
    }
    let median = percentile(&mut samples, 0.5);
    report.add_of("start_to_first_paint_ms", median, "ms", samples.len());
    Ok(())
}
