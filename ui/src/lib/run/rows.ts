import type { RunSummary } from "../api";
import type { Status } from "./status";

export type Filter = "all" | "needs_you" | "running" | "done" | "failed";
export const FILTERS: readonly Filter[] = ["all", "needs_you", "running", "done", "failed"];
export const ORIGINS = ["app", "host", "channel", "cli", "demo"] as const;
export type OriginFilter = "" | (typeof ORIGINS)[number];

/** The statuses of a filter; all when there is none. */
export const STATUSES: Record<Filter, Status[]> = {
  all: [],
  needs_you: ["needs_approval", "needs_you"],
  running: ["queued", "planning", "running", "paused", "stopping"],
  done: ["done"],
  failed: ["failed", "stopped", "limit_reached", "interrupted"],
};

/** Whether a run is shown under a filter. */
export function passes(run: RunSummary, filter: Filter): boolean {
  return filter === "all" || STATUSES[filter].includes(run.status);
}

/** One line of the list: a day, or a run of it. */
export type Row =
  | { kind: "day"; key: string; at: number }
  | { kind: "run"; key: string; run: RunSummary; index: number };

/** The runs that fit, with a line before each day. */
export function rows(
  runs: readonly RunSummary[],
  filter: Filter,
  origin: OriginFilter,
  words: string,
): Row[] {
  const wanted = words.trim().toLocaleLowerCase();
  const list: Row[] = [];
  let day = "";
  let index = 0;
  for (const run of runs) {
    if (!passes(run, filter)) continue;
    if (origin && run.origin.split(":", 1)[0] !== origin) continue;
    if (wanted && !run.text.toLocaleLowerCase().includes(wanted)) continue;
    const date = new Date(run.createdAt).toDateString();
    if (date !== day) {
      day = date;
      list.push({ kind: "day", key: date, at: run.createdAt });
    }
    list.push({ kind: "run", key: run.id, run, index: index++ });
  }
  return list;
}
