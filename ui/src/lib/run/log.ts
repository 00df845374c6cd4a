import type { StoredEvent } from "../backend/backend";
import { readReason, type Evidence, type Reason, type StepRecord, type Used } from "./payloads";
import { backendOf, type BackendName } from "./tools";

/** One call of a tool. */
export interface Call {
  id: string;
  step: number;
  tool: string;
  backend: BackendName;
  arguments: Record<string, unknown>;
  /** What the model had asked for, where the person changed it before allowing it. */
  asked: Record<string, unknown> | null;
  startedAt: number;
  /** How long it took; none while it goes. */
  ms: number | null;
  state: "running" | "ok" | "unchanged" | "failed" | "denied";
  /** What went wrong, in the tool's words. */
  message: string | null;
  evidence: Evidence[];
  records: StepRecord[];
}

/** One turn of the model: what it said and the calls it made. */
export interface Step {
  number: number;
  at: number;
  text: string;
  calls: Call[];
  /** Questions that were asked in it. */
  approvals: string[];
  /** Kinds of notices: the provider asked to wait, the reply began again. */
  notices: Notice[];
}

export interface Notice {
  at: number;
  kind: string;
  values: Record<string, string | number>;
}

/** A picture, tied to the call that saw it. */
export interface FrameMark {
  id: string;
  step: number;
  call: string;
  changed: boolean;
  at: number;
}

export interface StatusChange {
  at: number;
  step: number;
  status: string;
  reason: Reason | null;
}

/** Everything the events of a run say. Never changed in place, so that views notice. */
export interface RunLog {
  /** Events up to this one of the run are in it. */
  seq: number;
  steps: readonly Step[];
  frames: readonly FrameMark[];
  statuses: readonly StatusChange[];
  /** State of each question by id. */
  approvals: Readonly<Record<string, string>>;
  model: string | null;
  /** A recorded plan and no model decides. */
  recorded: boolean;
  used: Used | null;
}

export const EMPTY: RunLog = {
  seq: 0,
  steps: [],
  frames: [],
  statuses: [],
  approvals: {},
  model: null,
  recorded: false,
  used: null,
};

/** Whether an event is missing between the log and `event`. */
export function isGap(log: RunLog, event: Pick<StoredEvent, "seq">): boolean {
  return event.seq > log.seq + 1;
}

/** The log with the events in it; those it has already change nothing. */
export function reduce(log: RunLog, events: readonly StoredEvent[]): RunLog {
  const fresh = events.filter((event) => event.seq > log.seq);
  if (fresh.length === 0) return log;
  const next = new Draft(log);
  for (const event of fresh) next.add(event);
  return next.done();
}

type Payload = Record<string, unknown>;

const text = (payload: Payload, key: string) =>
  typeof payload[key] === "string" ? payload[key] : "";
const number = (payload: Payload, key: string) =>
  typeof payload[key] === "number" ? payload[key] : 0;

/** A copy that shares what does not change. */
class Draft {
  private readonly log: { -readonly [K in keyof RunLog]: RunLog[K] };
  private readonly steps: Step[];
  private readonly frames: FrameMark[];
  private readonly copied = new Set<Step>();

  constructor(log: RunLog) {
    this.steps = [...log.steps];
    this.frames = [...log.frames];
    this.log = { ...log, steps: this.steps, frames: this.frames };
  }

  done(): RunLog {
    return this.log;
  }

  add(event: StoredEvent): void {
    this.log.seq = event.seq;
    const payload = (event.payload ?? {}) as Payload;
    switch (event.kind) {
      case "run.status":
        this.log.statuses = [
          ...this.log.statuses,
          {
            at: event.at,
            step: this.steps.at(-1)?.number ?? 0,
            status: text(payload, "status"),
            reason: readReason(payload.reason),
          },
        ];
        break;
      case "run.model":
        this.log.model = text(payload, "model");
        this.log.recorded = payload.recorded === true;
        break;
      case "run.used":
        this.log.used = payload as unknown as Used;
        break;
      case "run.approval_asked": {
        const approval = text(payload, "approval");
        this.log.approvals = { ...this.log.approvals, [approval]: "open" };
        const last = this.steps.at(-1);
        if (last) {
          const step = this.step(last.number, event.at);
          step.approvals = [...step.approvals, approval];
        }
        break;
      }
      case "run.approval_answered":
        this.log.approvals = {
          ...this.log.approvals,
          [text(payload, "approval")]: text(payload, "state"),
        };
        break;
      case "step.text":
        this.step(number(payload, "step"), event.at).text += text(payload, "text");
        break;
      case "step.call_started":
        this.start(payload, event.at);
        break;
      case "step.call_edited":
        this.edit(payload, event.at);
        break;
      case "step.call_finished":
        this.finish(payload, event.at);
        break;
      case "model.restarted":
        this.step(number(payload, "step"), event.at).text = "";
        this.notice(event, payload);
        break;
      case "model.waiting":
        this.notice(event, payload);
        break;
      default:
        break;
    }
  }

  private notice(event: StoredEvent, payload: Payload): void {
    const values: Record<string, string | number> = {};
    for (const [key, value] of Object.entries(payload)) {
      if (typeof value === "string" || typeof value === "number") values[key] = value;
    }
    const step = this.step(number(payload, "step"), event.at);
    step.notices = [...step.notices, { at: event.at, kind: event.kind, values }];
  }

  private start(payload: Payload, at: number): void {
    const tool = text(payload, "tool");
    const step = this.step(number(payload, "step"), at);
    step.calls = [
      ...step.calls,
      {
        id: text(payload, "call"),
        step: step.number,
        tool,
        backend: backendOf(tool),
        arguments: (payload.arguments ?? {}) as Record<string, unknown>,
        asked: null,
        startedAt: at,
        ms: null,
        state: "running",
        message: null,
        evidence: [],
        records: [],
      },
    ];
  }

  private edit(payload: Payload, at: number): void {
    const step = this.step(number(payload, "step"), at);
    const id = text(payload, "call");
    step.calls = step.calls.map((call) =>
      call.id === id && call.ms === null
        ? {
            ...call,
            arguments: (payload.arguments ?? {}) as Record<string, unknown>,
            asked: call.arguments,
          }
        : call,
    );
  }

  private finish(payload: Payload, at: number): void {
    const step = this.step(number(payload, "step"), at);
    const id = text(payload, "call");
    const evidence = (payload.evidence ?? []) as Evidence[];
    step.calls = step.calls.map((call) =>
      call.id === id && call.ms === null
        ? {
            ...call,
            ms: number(payload, "ms"),
            state: outcome(payload),
            message: text(payload, "message") || null,
            evidence,
            records: records(payload.record),
          }
        : call,
    );
    for (const seen of evidence) {
      if (seen.kind !== "frame") continue;
      this.frames.push({
        id: seen.frame,
        step: step.number,
        call: id,
        changed: seen.changed,
        at,
      });
    }
  }

  /** The step to write to, made or copied as needed. */
  private step(number: number, at: number): Step {
    let index = this.steps.length - 1;
    while (index >= 0 && (this.steps[index]?.number ?? 0) > number) index -= 1;
    const found = this.steps[index];
    if (found?.number !== number) {
      const step = { number, at, text: "", calls: [], approvals: [], notices: [] };
      this.steps.splice(index + 1, 0, step);
      this.copied.add(step);
      return step;
    }
    if (this.copied.has(found)) return found;
    const copy = { ...found };
    this.steps[index] = copy;
    this.copied.add(copy);
    return copy;
  }
}

function outcome(payload: Payload): Call["state"] {
  if (payload.failure === "denied") return "denied";
  if (payload.error === true || (payload.failure ?? null) !== null) return "failed";
  return payload.visibleChange === false ? "unchanged" : "ok";
}

/** The records without their crops. */
function records(record: unknown): StepRecord[] {
  if (typeof record !== "object" || record === null || !("steps" in record)) return [];
  return (record.steps as StepRecord[]).map((step) => ({
    ...step,
    target: bare(step.target),
    other_end: bare(step.other_end),
  }));
}

function bare(target: StepRecord["target"]): StepRecord["target"] {
  return target && { sent: target.sent, input: target.input, element: target.element };
}
