//! What runs took and how they came out.

use std::collections::BTreeMap;

use openspace_store::{Run, RunFilter, RunStatus};
use serde_json::Value;

use super::{Call, payload};
use crate::{Code, Failure, failure::Result};

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000;

payload! {
    /// Which days.
    pub struct InsightsRequest {
        /// So many days back from now, up to 366.
        pub days: u32,
    }

    /// Runs that ended in these days. The demo's are left out: nobody asked for them.
    pub struct Insights {
        /// How many.
        pub runs: u32,
        /// How many of them were done.
        pub done: u32,
        /// Median of the time from start to end of those that were done; null without any.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub median_ms: Option<i64>,
        /// Tokens of all kinds.
        #[cfg_attr(test, ts(type = "number"))]
        pub tokens: u64,
        /// US dollars by the price table of the day each call was made.
        pub dollars: f64,
        /// Runs that used tokens of a model without a known price.
        pub unpriced_runs: u32,
        /// Day by day, oldest first, days without a run included.
        pub by_day: Vec<DayView>,
        /// Model by model, most runs first.
        pub by_model: Vec<GroupView>,
        /// Back ends offered, most runs first; a run counts for each of its own.
        pub by_backend: Vec<GroupView>,
        /// How the runs came out.
        pub by_status: Vec<StatusCount>,
    }

    /// One day of the person's calendar.
    pub struct DayView {
        /// `2026-11-30`
        pub day: String,
        /// Runs that ended then.
        pub runs: u32,
        /// Those that were done.
        pub done: u32,
        /// Tokens.
        #[cfg_attr(test, ts(type = "number"))]
        pub tokens: u64,
        /// US dollars.
        pub dollars: f64,
    }

    /// Runs that share something.
    pub struct GroupView {
        /// What they share.
        pub name: String,
        /// How many.
        pub runs: u32,
        /// Those that were done.
        pub done: u32,
        /// Tokens.
        #[cfg_attr(test, ts(type = "number"))]
        pub tokens: u64,
        /// US dollars.
        pub dollars: f64,
    }

    /// Runs of a status.
    pub struct StatusCount {
        /// The status.
        #[cfg_attr(test, ts(type = "string"))]
        pub status: RunStatus,
        /// How many.
        pub runs: u32,
    }
}

impl Call<'_> {
    pub(super) async fn insights_get(&self, request: InsightsRequest) -> Result<Insights> {
        if !(1..=366).contains(&request.days) {
            return Err(Failure::new(Code::InvalidRequest, "ask for 1 to 366 days"));
        }
        let now = self.app.store.now();
        let zone = jiff::tz::TimeZone::system();
        let since = now - i64::from(request.days - 1) * DAY;
        let since = start_of_day(since, &zone)?;
        let filter = RunFilter {
            ended_since: Some(since),
            ..RunFilter::default()
        };
        let mut runs = self
            .app
            .store
            .read(move |db| db.runs().list(&filter))
            .await?;
        runs.retain(|run| run.origin != "demo");
        insights(&runs, since, now, &zone)
    }
}

fn start_of_day(at: i64, zone: &jiff::tz::TimeZone) -> Result<i64> {
    let time = zoned(at, zone)?;
    let start = time
        .start_of_day()
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    Ok(start.timestamp().as_millisecond())
}

fn zoned(at: i64, zone: &jiff::tz::TimeZone) -> Result<jiff::Zoned> {
    let time = jiff::Timestamp::from_millisecond(at)
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    Ok(time.to_zoned(zone.clone()))
}

#[derive(Default)]
struct Sum {
    runs: u32,
    done: u32,
    tokens: u64,
    dollars: f64,
}

impl Sum {
    fn add(&mut self, run: &Run) {
        let usage = &run.usage;
        self.runs += 1;
        self.done += u32::from(run.status == RunStatus::Done);
        self.tokens += usage.input + usage.output + usage.cache_read + usage.cache_write;
        self.dollars += usage.microdollars as f64 / 1e6;
    }
}

fn insights(runs: &[Run], since: i64, now: i64, zone: &jiff::tz::TimeZone) -> Result<Insights> {
    let mut all = Sum::default();
    let mut days: BTreeMap<String, Sum> = BTreeMap::new();
    let mut day = zoned(since, zone)?;
    let last = zoned(now, zone)?.date();
    while day.date() <= last {
        days.insert(day.date().to_string(), Sum::default());
        day = day
            .tomorrow()
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    }
    let mut models: BTreeMap<String, Sum> = BTreeMap::new();
    let mut backends: BTreeMap<String, Sum> = BTreeMap::new();
    let mut statuses: BTreeMap<&'static str, (RunStatus, u32)> = BTreeMap::new();
    let mut times = Vec::new();
    let mut unpriced_runs = 0;
    for run in runs {
        all.add(run);
        if let Some(ended) = run.ended_at {
            let day = zoned(ended, zone)?.date().to_string();
            days.entry(day).or_default().add(run);
        }
        let model = run.settings.get("model").and_then(Value::as_str);
        models
            .entry(model.unwrap_or_default().to_owned())
            .or_default()
            .add(run);
        let offered = run.settings.get("backends").and_then(Value::as_array);
        for backend in offered.into_iter().flatten().filter_map(Value::as_str) {
            backends.entry(backend.to_owned()).or_default().add(run);
        }
        statuses
            .entry(run.status.as_str())
            .or_insert((run.status, 0))
            .1 += 1;
        if let (RunStatus::Done, Some(start), Some(end)) =
            (run.status, run.started_at, run.ended_at)
        {
            times.push(end - start);
        }
        let sent = run.usage.input + run.usage.output;
        unpriced_runs += u32::from(sent > 0 && run.usage.microdollars == 0);
    }
    times.sort_unstable();
    Ok(Insights {
        runs: all.runs,
        done: all.done,
        median_ms: times.get(times.len() / 2).copied(),
        tokens: all.tokens,
        dollars: all.dollars,
        unpriced_runs,
        by_day: days
            .into_iter()
            .map(|(day, sum)| DayView {
                day,
                runs: sum.runs,
                done: sum.done,
                tokens: sum.tokens,
                dollars: sum.dollars,
            })
            .collect(),
        by_model: groups(models),
        by_backend: groups(backends),
        by_status: statuses
            .into_values()
            .map(|(status, runs)| StatusCount { status, runs })
            .collect(),
    })
}

fn groups(sums: BTreeMap<String, Sum>) -> Vec<GroupView> {
    let mut groups: Vec<_> = sums
        .into_iter()
        .map(|(name, sum)| GroupView {
            name,
            runs: sum.runs,
            done: sum.done,
            tokens: sum.tokens,
            dollars: sum.dollars,
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.runs));
    groups
}
