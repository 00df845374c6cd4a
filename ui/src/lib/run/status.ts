import type { Reason } from "./payloads";

export type Status =
  | "queued"
  | "planning"
  | "running"
  | "needs_approval"
  | "needs_you"
  | "paused"
  | "stopping"
  | "stopped"
  | "done"
  | "failed"
  | "limit_reached"
  | "interrupted";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "danger";

const TONES: Record<Status, Tone> = {
  queued: "neutral",
  planning: "accent",
  running: "accent",
  needs_approval: "warn",
  needs_you: "warn",
  paused: "neutral",
  stopping: "neutral",
  stopped: "neutral",
  done: "ok",
  failed: "danger",
  limit_reached: "warn",
  interrupted: "warn",
};

/** The colour that goes with a status, always beside its glyph and word. */
export function toneOf(status: Status): Tone {
  return TONES[status];
}

/** It goes on by itself, or will. */
export function isGoing(status: Status): boolean {
  return ["queued", "planning", "running", "needs_approval", "paused", "stopping"].includes(status);
}

/** A person has to do something. */
export function needsPerson(status: Status): boolean {
  return status === "needs_approval" || status === "needs_you";
}

export type Driver = "nobody" | "agent" | "you";

/** Who moves the mouse. */
export function driverOf(run: {
  status: Status;
  reason: Reason | null;
  inControl: boolean;
}): Driver {
  if (run.status === "paused") {
    const pause = run.reason?.kind === "paused" ? run.reason.pause : null;
    return pause === "take_over" || pause === "human_input" ? "you" : "nobody";
  }
  return run.inControl && run.status === "running" ? "agent" : "nobody";
}
