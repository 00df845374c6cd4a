/** What events of runs carry, as the agent writes them (version 1 of each kind). */
export interface Point {
  x: number;
  y: number;
}

export interface Area extends Point {
  width: number;
  height: number;
}

interface Size {
  width: number;
  height: number;
}

/** How the pixels of one frame lie: input space, the captured image, the picture that was sent. */
export interface Geometry {
  generation: number;
  monitor: { name: string; area: Area; scale: number; primary: boolean };
  physical: Size;
  sent: Size;
}

export interface Element {
  role: string;
  name: string;
  area: Area | null;
}

export interface Target {
  sent: Point | null;
  input: Point;
  element: Element | null;
}

/** One action on the screen, without its crops: pictures are no part of the state. */
export interface StepRecord {
  action: Record<string, unknown>;
  geometry: Geometry | null;
  target: Target | null;
  other_end: Target | null;
  focus: Element | null;
  window: { app: string; title: string; area: Area } | null;
  secret?: boolean;
  changed: Area | null;
  settled_ms: number;
}

export type Evidence =
  | { kind: "frame"; frame: string; changed: boolean }
  | { kind: "command"; line: string; code: number | null; output: string | null }
  | { kind: "file"; path: string; change: string; undo: string | null };

export interface Usage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  images: number;
}

export interface Used {
  steps: number;
  activeMs: number;
  usage: Usage;
  cost: number | null;
}

/** Why a run has its status: a kind and its values. */
export interface Reason {
  kind: string;
  [value: string]: unknown;
}

/** Reads a reason, which events carry as JSON in a text. */
export function readReason(value: unknown): Reason | null {
  let reason = value;
  if (typeof value === "string") {
    try {
      reason = JSON.parse(value);
    } catch {
      return null;
    }
  }
  const fits = typeof reason === "object" && reason !== null && "kind" in reason;
  return fits ? (reason as Reason) : null;
}
