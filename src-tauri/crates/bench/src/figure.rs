//! Figures, their budgets, and how they are shown.

use std::time::Duration;

use serde_json::json;

/// What a figure must keep, from design section 15 and ui.md 4.5. Others are shown for comparison.
const BUDGETS: &[(&str, Budget)] = &[
    ("capture_encode_ms_p50.1080p", Budget::AtMost(40.0)),
    ("capture_encode_ms_p50.4k", Budget::AtMost(80.0)),
    ("click_inject_ms_p50", Budget::AtMost(5.0)),
    ("step_overhead_ms_p50", Budget::AtMost(150.0)),
    ("stop_to_last_input_ms_p99", Budget::AtMost(200.0)),
    ("click_error_px_max", Budget::AtMost(1.0)),
    ("type_1000_chars_ms", Budget::AtMost(2000.0)),
    ("store_append_events_per_s", Budget::AtLeast(5000.0)),
    ("initialize_cold_ms_p50", Budget::AtMost(15.0)),
    ("rss_mib", Budget::AtMost(15.0)),
    ("tools_list_tokens", Budget::AtMost(2000.0)),
    ("call_roundtrip_ms_p50", Budget::AtMost(2.0)),
    ("js_first_paint_gzip_kb", Budget::AtMost(120.0)),
    ("css_gzip_kb", Budget::AtMost(25.0)),
    ("first_contentful_paint_webkit_ms", Budget::AtMost(400.0)),
    ("start_to_first_paint_ms", Budget::AtMost(1200.0)),
    ("stop_click_to_input_released_ms_p95", Budget::AtMost(250.0)),
    ("filter_10000_rows_ms", Budget::AtMost(100.0)),
    ("run_view_heap_growth_mb", Budget::AtMost(30.0)),
    ("idle_cpu_percent", Budget::AtMost(1.0)),
    ("deb_size_mb", Budget::AtMost(25.0)),
    ("axe_serious_or_critical", Budget::AtMost(0.0)),
];

#[derive(Debug, Clone, Copy)]
enum Budget {
    AtMost(f64),
    AtLeast(f64),
}

/// Collects figures; as JSON each is printed when it is known, as a table all at the end.
pub(crate) struct Report {
    json: bool,
    rows: Vec<[String; 5]>,
}

impl Report {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            rows: Vec::new(),
        }
    }

    /// Takes a figure.
    pub(crate) fn add(&mut self, name: &str, value: f64, unit: &str) {
        self.take(name, value, unit, None);
    }

    /// Takes a figure that so many samples were taken for.
    pub(crate) fn add_of(&mut self, name: &str, value: f64, unit: &str, samples: usize) {
        self.take(name, value, unit, Some(samples));
    }

    fn take(&mut self, name: &str, value: f64, unit: &str, samples: Option<usize>) {
        let value = (value * 1000.0).round() / 1000.0;
        if self.json {
            let mut line = json!({ "name": name, "value": value, "unit": unit });
            if let Some(samples) = samples {
                line["samples"] = samples.into();
            }
            println!("{line}");
            return;
        }
        let budget = BUDGETS.iter().find(|(budgeted, _)| *budgeted == name);
        let budget = budget.map_or_else(String::new, |(_, budget)| {
            let (kept, words) = match budget {
                Budget::AtMost(most) => (value <= *most, format!("at most {most}")),
                Budget::AtLeast(least) => (value >= *least, format!("at least {least}")),
            };
            format!("{words}: {}", if kept { "kept" } else { "MISSED" })
        });
        let samples = samples.map_or_else(String::new, |samples| format!("of {samples}"));
        self.rows.push([
            name.to_owned(),
            format!("{value}"),
            unit.to_owned(),
            samples,
            budget,
        ]);
    }

    /// Prints the table, if that is what was asked for.
    pub(crate) fn finish(&self) {
        if !self.json {
            for [name, value, unit, samples, budget] in &self.rows {
                println!("{name:<36} {value:>12} {unit:<5} {samples:<8} {budget}");
            }
        }
    }
}

/// Says why a figure is missing.
pub(crate) fn missing(name: &str, reason: &str) {
    eprintln!("{name}: not measured: {reason}");
}

/// The value below which `part` (0 to 1) of all samples lie, by nearest rank; 0 of none.
pub(crate) fn percentile(samples: &mut [Duration], part: f64) -> f64 {
    samples.sort_unstable();
    let rank = (part * samples.len() as f64).ceil() as usize;
    let sample = samples.get(rank.max(1) - 1).copied().unwrap_or_default();
    sample.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentiles are samples, not averages between them.
    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut samples: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        let at = |samples: &mut [Duration], part| percentile(samples, part);
        assert!((at(&mut samples, 0.5) - 100.0).abs() < 1e-9);
        assert!((at(&mut samples, 0.99) - 198.0).abs() < 1e-9);
        assert!((at(&mut samples, 1.0) - 200.0).abs() < 1e-9);
        assert!((at(&mut samples[..1], 0.5) - 1.0).abs() < 1e-9);
    }
}
