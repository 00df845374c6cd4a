import { waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../tests/axe";
import { open, part } from "../../tests/page";

const QUESTION = {
  approval: "q1",
  nonce: "n1",
  title: "Delete 2 files",
  risk: "medium",
  about: "risk: medium · cannot be undone",
  exactly: [
    { what: "Delete", text: "/tmp/a\n/tmp/b" },
    { what: "Look at and click in gimp", text: null },
  ],
  deny: "Deny",
  allow: "Allow once" as string | null,
  open: "Open in window",
  note: "Read to the end to allow it.",
  refused: "Only a press of your own hand allows something here.",
};
const PILL = {
  run: "r1",
  language: "en",
  title: "OpenSpace uses mouse and keyboard",
  line: "Step 3: click · Tidy up",
  paused: false,
  pause: "Pause",
  takeOver: "Take over",
  stop: "STOP",
  question: null as typeof QUESTION | null,
};
const asks = (change: Partial<typeof QUESTION> = {}) => ({
  ...PILL,
  question: { ...QUESTION, ...change },
});
const button = (id: string) => part<HTMLButtonElement>(id);

/** The question is higher than its place, and this much of it has been scrolled away. */
function overflow(scrolled: number) {
  const sizes = { scrollHeight: 300, clientHeight: 90, scrollTop: scrolled };
  for (const [name, value] of Object.entries(sizes)) {
    Object.defineProperty(part("whole"), name, { value, writable: true, configurable: true });
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the pill", () => {
  /** It says what goes on and halts the run it is about. */
  it("pauses, takes over and stops", () => {
    const { asked, show } = open("hud");
    show(PILL);
    expect(part("title").textContent).toBe("OpenSpace uses mouse and keyboard");
    expect(part("question").hidden).toBe(true);
    for (const id of ["pause", "take-over", "stop"]) button(id).click();
    show({ ...PILL, paused: true, pause: "Resume" });
    expect(button("take-over").hidden).toBe(true);
    button("pause").click();
    const run = "r1";
    expect(asked).toEqual([
      ["rpc", { name: "run_command", request: { run, command: "pause" } }],
      ["rpc", { name: "run_command", request: { run, command: "take_over" } }],
      ["rpc", { name: "run_stop", request: { run } }],
      ["rpc", { name: "run_command", request: { run, command: "resume" } }],
    ]);
  });

  /** Everything that would happen is there, as text, and nothing that axe finds. */
  it("shows the whole question", async () => {
    const { show } = open("hud");
    show(asks({ title: "Delete <b>2</b> files" }));
    expect(part("question").hidden).toBe(false);
    expect(part("asked").textContent).toBe("Delete <b>2</b> files");
    expect(part("asked").children).toHaveLength(0);
    expect(part("exactly").querySelector("pre")?.textContent).toBe("/tmp/a\n/tmp/b");
    expect(part("exactly").textContent).toContain("Look at and click in gimp");
    vi.useRealTimers();
    expect(await violations()).toEqual([]);
  });

  /** Allowing waits until the question could be read; denying does not. */
  it("does not allow what nobody could read", () => {
    const { asked, show } = open("hud");
    show(asks());
    expect(button("allow").disabled).toBe(true);
    expect(button("deny").disabled).toBe(false);
    vi.advanceTimersByTime(599);
    button("allow").click();
    expect(asked).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(button("allow").disabled).toBe(false);
    button("allow").click();
    const request = { approval: "q1", nonce: "n1", choice: "once" };
    expect(asked).toEqual([["rpc", { name: "approval_answer", request }]]);
    button("allow").click();
    button("deny").click();
    expect(asked).toHaveLength(1);
  });

  /** A question that is longer than its place has to be read to the end. */
  it("waits for the end of a long question", () => {
    const { show } = open("hud");
    overflow(0);
    show(asks());
    overflow(100);
    vi.advanceTimersByTime(5_000);
    expect(button("allow").disabled).toBe(true);
    expect(part("note").hidden).toBe(false);
    overflow(210);
    part("whole").dispatchEvent(new Event("scroll"));
    expect(button("allow").disabled).toBe(false);
    expect(part("note").hidden).toBe(true);
  });

  /** Denying is one press, and sends no choice. */
  it("denies at once", () => {
    const { asked, show } = open("hud");
    show(asks());
    button("deny").click();
    const request = { approval: "q1", nonce: "n1", choice: null };
    expect(asked).toEqual([["rpc", { name: "approval_answer", request }]]);
  });

  /** What the pill may not allow has no control that allows, and says where to look. */
  it("leaves what is risky to the window", () => {
    const { asked, show } = open("hud");
    show(asks({ allow: null, note: "This is risky: look at it in the window." }));
    vi.advanceTimersByTime(5_000);
    expect(button("allow").hidden).toBe(true);
    expect(part("note").hidden).toBe(false);
    button("open").click();
    expect(asked).toEqual([["leave", { address: "openspace://approvals/q1" }]]);
  });

  /** An answer that was not taken is told, and another one can be given. */
  it("says when an answer was refused", async () => {
    const { asked, show } = open("hud", () => {
      throw Object.assign(new Error("not by hand"), { code: "forbidden" });
    });
    show(asks());
    vi.advanceTimersByTime(600);
    button("allow").click();
    vi.useRealTimers();
    await waitFor(() => expect(part("note").textContent).toBe(QUESTION.refused));
    expect(part("note").hidden).toBe(false);
    expect(button("allow").disabled).toBe(false);
    button("deny").click();
    expect(asked).toHaveLength(2);
  });

  /** The next question has to be read anew; the same one told again has not. */
  it("begins anew with each question", () => {
    const { show } = open("hud");
    show(asks());
    vi.advanceTimersByTime(600);
    show({ ...asks(), line: "Step 3: click · Tidy up more" });
    expect(button("allow").disabled).toBe(false);
    show(asks({ approval: "q2", title: "Another" }));
    expect(part("asked").textContent).toBe("Another");
    expect(button("allow").disabled).toBe(true);
    show(PILL);
    expect(part("question").hidden).toBe(true);
  });
});
