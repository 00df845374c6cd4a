import type { Call } from "./log";
import type { Area, Geometry, Point, StepRecord } from "./payloads";
import { actionsOf } from "./tools";

/** What is drawn over a frame, in pixels of the picture as sent. */
export type Mark =
  | { kind: "click"; at: Point; times: number; button: "left" | "right" | "middle" }
  | { kind: "move"; at: Point }
  | { kind: "drag"; from: Point; to: Point }
  | { kind: "scroll"; at: Point; direction: string }
  | { kind: "type"; area: Area; text: string; secret: boolean }
  | { kind: "key"; text: string }
  | { kind: "window"; area: Area }
  | { kind: "target"; area: Area };

export interface Marks {
  /** Size of the picture the positions belong to; none where it is not known. */
  size: { width: number; height: number } | null;
  marks: Mark[];
}

/** What a call did on the screen, from its records, else from its arguments. */
export function marksOf(call: Call): Marks {
  const geometry = call.records.find((record) => record.geometry)?.geometry ?? null;
  if (call.records.length > 0) {
    return {
      size: geometry?.sent ?? null,
      marks: call.records.flatMap((record) => fromRecord(record, geometry)),
    };
  }
  return {
    size: null,
    marks: actionsOf(call.tool, call.arguments).flatMap((action) =>
      fromAction(action, point(action.coordinate), point(action.start_coordinate)),
    ),
  };
}

function fromRecord(record: StepRecord, first: Geometry | null): Mark[] {
  const geometry = record.geometry ?? first;
  const marks: Mark[] = [];
  const area = (input: Area | null | undefined) =>
    geometry && input ? inputToSent(input, geometry) : null;
  const window = area(record.window?.area);
  if (window) marks.push({ kind: "window", area: window });
  const element = area(record.target?.element?.area);
  if (element && window && element.width * element.height < window.width * window.height * 0.5) {
    marks.push({ kind: "target", area: element });
  }
  const to = place(record.target, geometry) ?? point(record.action.coordinate);
  const from = place(record.other_end, geometry) ?? point(record.action.start_coordinate);
  const focus = area(record.focus?.area);
  for (const mark of fromAction(record.action, to, from)) {
    if (mark.kind !== "type") marks.push(mark);
    else if (focus) marks.push({ ...mark, area: focus, secret: record.secret === true });
  }
  return marks;
}

/** Marks of an action; a typed text has no place unless the focus is known. */
function fromAction(action: Record<string, unknown>, at: Point | null, from: Point | null): Mark[] {
  const text = typeof action.text === "string" ? action.text : "";
  switch (action.action) {
    case "left_click":
    case "left_mouse_down":
    case "left_mouse_up":
      return at ? [{ kind: "click", at, times: 1, button: "left" }] : [];
    case "right_click":
      return at ? [{ kind: "click", at, times: 1, button: "right" }] : [];
    case "middle_click":
      return at ? [{ kind: "click", at, times: 1, button: "middle" }] : [];
    case "double_click":
      return at ? [{ kind: "click", at, times: 2, button: "left" }] : [];
    case "triple_click":
      return at ? [{ kind: "click", at, times: 3, button: "left" }] : [];
    case "mouse_move":
      return at ? [{ kind: "move", at }] : [];
    case "left_click_drag":
      return at && from ? [{ kind: "drag", from, to: at }] : [];
    case "scroll":
      return at
        ? [{ kind: "scroll", at, direction: String(action.scroll_direction ?? "down") }]
        : [];
    case "type":
      return [{ kind: "type", area: { x: 0, y: 0, width: 0, height: 0 }, text, secret: false }];
    case "key":
    case "hold_key":
      return [{ kind: "key", text }];
    default:
      // A call of `click_element` names no action but has a target.
      return action.action === undefined && at
        ? [{ kind: "click", at, times: 1, button: "left" }]
        : [];
  }
}

function place(target: StepRecord["target"], geometry: Geometry | null): Point | null {
  if (!target) return null;
  if (target.sent) return { x: target.sent.x, y: target.sent.y };
  return geometry ? inputToSent({ ...target.input, width: 1, height: 1 }, geometry) : null;
}

function point(value: unknown): Point | null {
  if (!Array.isArray(value)) return null;
  const [x, y] = value as unknown[];
  return typeof x === "number" && typeof y === "number" ? { x, y } : null;
}

/** An area of input space in the sent picture, cut to it; none when it is on another monitor. */
export function inputToSent(area: Area, geometry: Geometry): Area | null {
  const { monitor, sent } = geometry;
  const across = sent.width / Math.max(1, monitor.area.width);
  const down = sent.height / Math.max(1, monitor.area.height);
  const left = Math.max(0, (area.x - monitor.area.x) * across);
  const top = Math.max(0, (area.y - monitor.area.y) * down);
  const right = Math.min(sent.width, (area.x + area.width - monitor.area.x) * across);
  const bottom = Math.min(sent.height, (area.y + area.height - monitor.area.y) * down);
  if (right <= left || bottom <= top) return null;
  return { x: left, y: top, width: right - left, height: bottom - top };
}
