import type { Call, FrameMark, RunLog, Step } from "./log";

/** One place a person can go to in a run: a call, or a step that only said something. */
export interface Moment {
  step: Step;
  call: Call | null;
  /** What the screen looked like before. */
  before: FrameMark | null;
  /** What it looked like afterwards; the one before when nothing was seen. */
  after: FrameMark | null;
}

/** The moments of a run in order. */
export function moments(log: RunLog): Moment[] {
  const seen = new Map<string, FrameMark[]>();
  for (const frame of log.frames) {
    const key = `${frame.step}/${frame.call}`;
    seen.set(key, [...(seen.get(key) ?? []), frame]);
  }
  let latest: FrameMark | null = null;
  const all: Moment[] = [];
  for (const step of log.steps) {
    const calls: (Call | null)[] = step.calls.length > 0 ? step.calls : [null];
    for (const call of calls) {
      const before = latest;
      const own = call ? seen.get(`${step.number}/${call.id}`) : undefined;
      latest = own?.at(-1) ?? latest;
      all.push({ step, call, before, after: latest });
    }
  }
  return all;
}

/** The moment `by` places away that shows another picture, or the nearest end. */
export function otherFrame(all: readonly Moment[], from: number, by: 1 | -1): number {
  const here = all[from]?.after?.id;
  for (let index = from + by; index >= 0 && index < all.length; index += by) {
    if (all[index]?.after && all[index]?.after?.id !== here) return index;
  }
  return by > 0 ? all.length - 1 : 0;
}

/** The first moment of the step before or after the one at `from`. */
export function otherStep(all: readonly Moment[], from: number, by: 1 | -1): number {
  const here = all[from]?.step.number ?? 0;
  const found =
    by > 0
      ? all.findIndex((moment) => moment.step.number > here)
      : all.findLastIndex((moment) => moment.step.number < here);
  if (found < 0) return by > 0 ? all.length - 1 : 0;
  return firstOf(all, all[found]?.step.number ?? 0);
}

/** Where a step begins. */
export function firstOf(all: readonly Moment[], step: number): number {
  const index = all.findIndex((moment) => moment.step.number >= step);
  return index < 0 ? all.length - 1 : index;
}
