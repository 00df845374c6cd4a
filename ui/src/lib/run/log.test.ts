import { describe, expect, it } from "vitest";
import sample from "../../../tests/samples/demo-run.json";
import type { StoredEvent } from "../backend/backend";
import { EMPTY, isGap, reduce } from "./log";

const events = sample.events as unknown as StoredEvent[];

function event(seq: number, kind: string, payload: StoredEvent["payload"]): StoredEvent {
  return { id: seq, topic: "run", key: "r", seq, at: seq * 10, kind, v: 1, payload };
}

describe("the log of a run", () => {
  /** A real run, as the agent wrote it, becomes the steps, pictures and questions it had. */
  it("reads a real run", () => {
    const log = reduce(EMPTY, events);
    expect(log.seq).toBe(53);
    expect(log.steps.map((step) => step.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(log.steps[6]?.text).toBe("I press Save with the mouse.");
    expect(log.steps[3]?.calls.map((call) => call.tool)).toEqual(["computer", "computer"]);
    expect(log.steps.flatMap((step) => step.calls).every((call) => call.state === "ok")).toBe(true);
    expect(log.steps[9]?.approvals).toEqual(["xf5sc9h8qx"]);
    expect(log.approvals).toEqual({ xf5sc9h8qx: "allowed_once" });
    expect(log.frames.map((frame) => frame.step)).toEqual([2, 3, 4, 4, 5, 6, 6, 7, 8]);
    expect(log.recorded).toBe(true);
    expect(log.used?.activeMs).toBe(4697);
    expect(log.statuses.at(-1)?.status).toBe("done");
  });

  /** However the events are cut into batches, the log is the same. */
  it("does not depend on batches", () => {
    const whole = reduce(EMPTY, events);
    let log = EMPTY;
    for (let start = 0; start < events.length; start += 3) {
      log = reduce(log, events.slice(start, start + 3));
    }
    expect(log).toEqual(whole);
  });

  /** Events that come twice, as after a reconnect, change nothing. */
  it("ignores what it has", () => {
    const log = reduce(EMPTY, events);
    expect(reduce(log, events.slice(10))).toBe(log);
  });

  /** Pictures are no part of the state, not even the crops that a record carries. */
  it("keeps no picture", () => {
    const text = JSON.stringify(reduce(EMPTY, events));
    expect(text).not.toContain("jpeg");
    expect(text).not.toContain("base64");
    expect(text).not.toContain("data:image");
  });

  /** What was there before is not changed in place, and what did not change is shared. */
  it("shares what stays", () => {
    const before = reduce(EMPTY, events.slice(0, 20));
    const copy = structuredClone(before);
    const after = reduce(before, events.slice(20, 24));
    expect(before).toEqual(copy);
    expect(after.steps[0]).toBe(before.steps[0]);
  });

  /** A missing number is a gap; the next one is not. */
  it("sees gaps", () => {
    const log = reduce(EMPTY, [event(1, "step.text", { step: 1, text: "a" })]);
    expect(isGap(log, { seq: 2 })).toBe(false);
    expect(isGap(log, { seq: 1 })).toBe(false);
    expect(isGap(log, { seq: 3 })).toBe(true);
  });

  /** Each way a call can end has its own state. */
  it.each([
    [{ failure: "denied", error: true }, "denied"],
    [{ failure: "timeout", error: true }, "failed"],
    [{ failure: null, error: true }, "failed"],
    [{ failure: null, error: false, visibleChange: false }, "unchanged"],
    [{ failure: null, error: false, visibleChange: null }, "ok"],
  ])("reads the end %j", (end, state) => {
    const log = reduce(EMPTY, [
      event(1, "step.call_started", { step: 1, call: "c", tool: "run_command", arguments: {} }),
      event(2, "step.call_finished", { step: 1, call: "c", ms: 5, evidence: [], ...end }),
    ]);
    expect(log.steps[0]?.calls[0]?.state).toBe(state);
  });

  /** A call whose command the person changed shows that one, and keeps what was asked for. */
  it("follows an edit", () => {
    const call = { step: 1, call: "c", tool: "run_command" };
    const asked = { command: "rm *", network: true };
    const edited = { command: "rm a", network: true };
    const log = reduce(EMPTY, [
      event(1, "step.call_started", { ...call, arguments: asked }),
      event(2, "step.call_edited", { ...call, arguments: edited }),
      event(3, "step.call_finished", { ...call, ms: 5, evidence: [] }),
      event(4, "step.call_started", { ...call, call: "d", arguments: asked }),
    ]);
    expect(log.steps[0]?.calls.map(({ arguments: ran, asked }) => [ran, asked])).toEqual([
      [edited, asked],
      [asked, null],
    ]);
  });

  /** The text of a step grows; a reply that begins again begins with nothing. */
  it("follows streamed text", () => {
    const log = reduce(EMPTY, [
      event(1, "step.text", { step: 1, text: "I open " }),
      event(2, "step.text", { step: 1, text: "the file." }),
      event(3, "model.restarted", { step: 1 }),
      event(4, "step.text", { step: 1, text: "I look." }),
    ]);
    expect(log.steps[0]?.text).toBe("I look.");
    expect(log.steps[0]?.notices.map((notice) => notice.kind)).toEqual(["model.restarted"]);
  });

  /** A reason is JSON in a text; something else is no reason. */
  it("reads reasons", () => {
    const log = reduce(EMPTY, [
      event(1, "run.status", { status: "paused", reason: '{"kind":"paused","pause":"take_over"}' }),
      event(2, "run.status", { status: "running", reason: "not json" }),
    ]);
    expect(log.statuses.map((change) => change.reason)).toEqual([
      { kind: "paused", pause: "take_over" },
      null,
    ]);
  });
});
