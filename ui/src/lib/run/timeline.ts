import type { RunLog } from "./log";
import type { BackendName } from "./tools";

/** One place on the time axis: a step, or several where there are too many to show. */
export interface Tick {
  /** First step in it. */
  step: number;
  /** Last step in it. */
  last: number;
  backend: BackendName | "text";
  state: "running" | "ok" | "failed";
  asked: boolean;
  /** The person drove in it. */
  tookOver: boolean;
  /** The last picture in it. */
  frame: string | null;
}

/** The axis of a run with at most `most` ticks. */
export function ticks(log: RunLog, most: number): Tick[] {
  const frames = new Map<number, string>();
  for (const frame of log.frames) frames.set(frame.step, frame.id);
  const taken = new Set<number>();
  for (const change of log.statuses) {
    if (change.status === "paused" && change.reason?.pause === "take_over") taken.add(change.step);
  }
  const all = log.steps.map((step): Tick => {
    const calls = step.calls;
    const failed = calls.some((call) => call.state === "failed" || call.state === "denied");
    const running = calls.some((call) => call.state === "running");
    return {
      step: step.number,
      last: step.number,
      backend: calls[0]?.backend ?? "text",
      state: running ? "running" : failed ? "failed" : "ok",
      asked: step.approvals.length > 0,
      tookOver: taken.has(step.number),
      frame: frames.get(step.number) ?? null,
    };
  });
  const group = Math.ceil(all.length / Math.max(1, most));
  if (group <= 1) return all;
  const merged: Tick[] = [];
  for (let start = 0; start < all.length; start += group) {
    const part = all.slice(start, start + group);
    const [first] = part;
    const last = part.at(-1);
    if (!first || !last) continue;
    merged.push({
      ...first,
      last: last.last,
      state: part.some((tick) => tick.state === "running")
        ? "running"
        : part.some((tick) => tick.state === "failed")
          ? "failed"
          : "ok",
      asked: part.some((tick) => tick.asked),
      tookOver: part.some((tick) => tick.tookOver),
      frame: part.findLast((tick) => tick.frame)?.frame ?? null,
    });
  }
  return merged;
}
