import { beforeAll, describe, expect, it } from "vitest";
import sample from "../../../tests/samples/demo-run.json";
import type { RunSummary } from "../api";
import type { StoredEvent } from "../backend/backend";
import { speaker } from "../i18n.svelte";
import { merge } from "../state/runs.svelte";
import { EMPTY, reduce } from "./log";
import { inputToSent, marksOf } from "./marks";
import { firstOf, moments, otherFrame, otherStep } from "./moments";
import { rows } from "./rows";
import { callLine, reasonText } from "./sentence";
import { driverOf } from "./status";
import { ticks } from "./timeline";

const log = reduce(EMPTY, sample.events as unknown as StoredEvent[]);
const all = moments(log);
const callOf = (step: number) => {
  const call = log.steps.find((other) => other.number === step)?.calls[0];
  if (!call) throw new Error(`step ${step} has no call`);
  return call;
};

beforeAll(() => speaker.speak("en"));

describe("marks", () => {
  /** A click is drawn exactly where it was aimed at, its window and its button are outlined. */
  it("draw a click where it was", () => {
    const { size, marks } = marksOf(callOf(7));
    expect(size).toEqual({ width: 1280, height: 800 });
    expect(marks).toContainEqual({
      kind: "click",
      at: { x: 1140, y: 772 },
      times: 1,
      button: "left",
    });
    expect(marks).toContainEqual({
      kind: "window",
      area: { x: 93, y: 20, width: 1096, height: 775 },
    });
    expect(marks).toContainEqual({
      kind: "target",
      area: { x: 1097, y: 755, width: 86, height: 34 },
    });
  });

  /** Each action of a batch has its mark; text is shown in the field that had the focus. */
  it("draw a batch", () => {
    const kinds = marksOf(callOf(3)).marks.map((mark) => mark.kind);
    expect(kinds).toContain("click");
    expect(kinds).toContain("type");
    expect(kinds).toContain("key");
  });

  /** Before a call has ended only its arguments are known. */
  it("come from arguments while a call goes", () => {
    const running = { ...callOf(7), records: [] };
    expect(marksOf(running).marks).toEqual([
      { kind: "click", at: { x: 1140, y: 772 }, times: 1, button: "left" },
    ]);
  });

  /** Scaled pictures, and monitors left of the first one, are placed right; other monitors not at all. */
  it("map input space to the picture", () => {
    const geometry = {
      generation: 1,
      monitor: {
        name: "b",
        area: { x: -1920, y: -200, width: 1920, height: 1080 },
        scale: 1.5,
        primary: false,
      },
      physical: { width: 2880, height: 1620 },
      sent: { width: 960, height: 540 },
    };
    const area = inputToSent({ x: -1820, y: -100, width: 100, height: 40 }, geometry);
    expect(area).toEqual({ x: 50, y: 50, width: 50, height: 20 });
    expect(inputToSent({ x: 10, y: 10, width: 5, height: 5 }, geometry)).toBeNull();
  });
});

describe("moments", () => {
  /** Every call is one, and so is a step that only spoke. */
  it("cover the run", () => {
    expect(all).toHaveLength(13);
    expect(all.at(-1)?.call).toBeNull();
    expect(all[0]?.after).toBeNull();
    expect(all.at(-1)?.after?.id).toBe(log.frames.at(-1)?.id);
  });

  /** What is before one is what was after the one before it. */
  it("are a chain", () => {
    all.slice(1).forEach((moment, index) => {
      expect(moment.before?.id).toBe(all[index]?.after?.id);
    });
  });

  /** Going by pictures skips looks that showed nothing new; going by steps goes to their beginning. */
  it("can be walked", () => {
    const fourth = firstOf(all, 4);
    const next = otherFrame(all, fourth, 1);
    expect(all[next]?.after?.id).not.toBe(all[fourth]?.after?.id);
    expect(all[otherStep(all, fourth + 1, 1)]?.step.number).toBe(5);
    expect(otherStep(all, firstOf(all, 5), -1)).toBe(fourth);
    expect(otherStep(all, all.length - 1, 1)).toBe(all.length - 1);
    expect(otherFrame(all, 0, -1)).toBe(0);
  });
});

describe("the time axis", () => {
  /** A tick a step, with the question where it was asked. */
  it("has every step", () => {
    const axis = ticks(log, 100);
    expect(axis).toHaveLength(11);
    expect(axis.filter((tick) => tick.asked).map((tick) => tick.step)).toEqual([10]);
    expect(axis[8]?.backend).toBe("shell");
  });

  /** A long run is gathered, and nothing that needs to be seen disappears in it. */
  it("gathers", () => {
    const axis = ticks(log, 4);
    expect(axis.map((tick) => [tick.step, tick.last])).toEqual([
      [1, 3],
      [4, 6],
      [7, 9],
      [10, 11],
    ]);
    expect(axis[3]?.asked).toBe(true);
  });
});

const run = (over: Partial<RunSummary>): RunSummary =>
  ({
    id: "a",
    text: "Weekly report",
    origin: "app",
    status: "done",
    createdAt: 1_000,
    approvals: [],
    ...over,
  }) as RunSummary;

describe("the list", () => {
  /** Days are headings, and filters leave out what does not fit with its heading. */
  it("groups and filters", () => {
    const day = 86_400_000;
    const list = [
      run({ id: "a", createdAt: 10 * day, status: "running" }),
      run({ id: "b", createdAt: 10 * day - 1_000, origin: "host:Codex", status: "needs_you" }),
      run({ id: "c", createdAt: 5 * day, status: "failed", text: "Scans" }),
    ];
    const keys = (
      filter: Parameters<typeof rows>[1],
      origin: Parameters<typeof rows>[2],
      words: string,
    ) =>
      rows(list, filter, origin, words).flatMap((row) => (row.kind === "run" ? [row.run.id] : []));
    expect(keys("all", "", "")).toEqual(["a", "b", "c"]);
    expect(keys("needs_you", "", "")).toEqual(["b"]);
    expect(keys("running", "", "")).toEqual(["a"]);
    expect(keys("failed", "", "scan")).toEqual(["c"]);
    expect(keys("all", "host", "")).toEqual(["b"]);
    expect(rows(list, "failed", "", "").filter((row) => row.kind === "day")).toHaveLength(1);
  });

  /** Changed runs take their place, new ones come in order, deleted ones go. */
  it("merges what changed", () => {
    const before = [run({ id: "b", createdAt: 2 }), run({ id: "a", createdAt: 1 })];
    const now = merge(
      before,
      [run({ id: "c", createdAt: 3 }), run({ id: "a", createdAt: 1, status: "failed" })],
      ["a", "b", "c"],
    );
    expect(now.map((other) => [other.id, other.status])).toEqual([
      ["c", "done"],
      ["a", "failed"],
    ]);
  });
});

describe("words", () => {
  /** A call is one line with what matters, as in the terminal. */
  it("say what a call does", () => {
    expect(callLine("computer", { action: "left_click", coordinate: [3, 4] })).toBe(
      "click at 3, 4",
    );
    expect(callLine("run_command", { command: "a\nb" })).toBe("run a⏎b");
    expect(callLine("weather__today", {})).toBe("weather__today");
    const batch = (count: number) =>
      callLine("computer_batch", { actions: Array(count).fill({ action: "wait" }), count: 7 });
    expect(batch(1)).toBe("1 action on the screen");
    expect(batch(3)).toBe("3 actions on the screen");
  });

  /** Reasons are worded with what was used. */
  it("say why", () => {
    const taken = { steps: 20, milliseconds: 1, tokens: 5, dollars: null };
    expect(reasonText({ kind: "limit", limit: "steps" }, taken)).toContain("20");
    expect(reasonText({ kind: "paused", pause: "take_over" }, null)).toBe("you took over");
    expect(reasonText({ kind: "no_effect", actions: 1 }, null)).toBe(
      "1 action on the screen changed nothing",
    );
    expect(reasonText({ kind: "no_effect", actions: 6 }, null)).toBe(
      "6 actions on the screen in a row changed nothing",
    );
    expect(reasonText(null, null)).toBe("");
  });

  /** Only a running run with the screen is the agent's; a pause by hand is the person's. */
  it("know who drives", () => {
    const of = (status: "running" | "paused", pause: string | null, inControl: boolean) =>
      driverOf({ status, reason: pause ? { kind: "paused", pause } : null, inControl });
    expect(of("running", null, true)).toBe("agent");
    expect(of("running", null, false)).toBe("nobody");
    expect(of("paused", "take_over", true)).toBe("you");
    expect(of("paused", "human_input", false)).toBe("you");
    expect(of("paused", "asked", true)).toBe("nobody");
  });
});
