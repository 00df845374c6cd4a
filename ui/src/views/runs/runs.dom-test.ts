import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { detail, EVENTS, question, RUN, summary } from "../../../tests/samples";
import { useBackend, type ApprovalView, type RunDetail } from "../../lib/api";
import { CallFailed, type StoredEvent } from "../../lib/backend/backend";
import { approvals } from "../../lib/state/approvals.svelte";
import { commands } from "../../lib/state/commands.svelte";
import { events } from "../../lib/state/events.svelte";
import { runs } from "../../lib/state/runs.svelte";
import { unsent } from "../../lib/state/unsent.svelte";
// Loaded when they are wanted; here beforehand, so that no test waits for it.
import "../diagnostics/ReportDialog.svelte";
import "./EndCard.svelte";
import "./ExportDialog.svelte";
import RunView from "./RunView.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let stop: (() => void) | undefined;

const GOING = summary({ status: "running", going: true, inControl: true, endedAt: null, step: 7 });

async function show(answer: () => RunDetail, more: FakeBackend["answers"] = {}) {
  backend = new FakeBackend({
    run_detail: answer,
    runs_get: () => ({ runs: [answer().run], cursor: 0 }),
    call_output: () => ({ text: "43 greeting.txt", more: false }),
    ...more,
  });
  useBackend(backend);
  stop = events.start(0);
  commands.context = "run";
  addEventListener("keydown", commands.onkeydown);
  const shown = render(RunView, { props: { route: { name: "run", id: RUN } } });
  await screen.findByRole("heading", { level: 1 });
  return shown;
}

beforeEach(() => {
  runs.list = [];
  approvals.open = [];
  unsent[RUN] = "";
});
afterEach(() => {
  stop?.();
  removeEventListener("keydown", commands.onkeydown);
});

const steps = () => within(screen.getByRole("region", { name: "Steps" }));
const inspector = () => within(screen.getByRole("complementary", { name: "Inspector" }));

describe("a run that ended", () => {
  /** It says how it came out, what it took and what it changed, and offers what can be done next. */
  it("shows the result", async () => {
    await show(() =>
      detail({
        changes: [
          {
            id: "c",
            step: 7,
            path: "/home/ana/a.txt",
            kind: "created",
            canBeUndone: true,
            undoneAt: null,
          },
        ],
      }),
    );
    const card = within(await screen.findByRole("region", { name: "How it came out" }));
    expect(
      card.getByText("The greeting is written, saved as greeting.txt and checked."),
    ).toBeTruthy();
    expect(card.getByText("/home/ana/a.txt")).toBeTruthy();
    expect(card.getByRole("button", { name: "Undo" })).toBeTruthy();
    expect(screen.getByText("Recorded demo, no AI model used")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
    expect(await violations()).toEqual([]);
  });

  /** Picking a call shows its picture, what was aimed at, and what it was given. */
  it("can be looked through", async () => {
    await show(() => detail());
    await user.click(await steps().findByRole("button", { name: /click at 1140, 772/ }));
    expect(inspector().getByRole("heading", { name: "Step 7" })).toBeTruthy();
    expect(inspector().getByText(/Save”, push button/)).toBeTruthy();
    const point = document.querySelector('[data-mark="point"]');
    expect([point?.getAttribute("cx"), point?.getAttribute("cy")]).toEqual(["1140", "772"]);
    await user.keyboard("{Shift>}{ArrowRight}{/Shift}");
    expect(inspector().getByRole("heading", { name: "Step 8" })).toBeTruthy();
    expect(screen.getByRole("slider").getAttribute("aria-valuenow")).toBe("8");
    await user.keyboard("l");
    expect(await screen.findByRole("region", { name: "How it came out" })).toBeTruthy();
  });

  /** A command is shown with what it answered and how it ended. */
  it("shows commands with their output", async () => {
    await show(() => detail());
    await user.click(await steps().findByRole("button", { name: /run cat greeting/ }));
    expect(await screen.findByText("43 greeting.txt")).toBeTruthy();
    expect(screen.getByText("ended with code 0")).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** What it produced can be opened, found and named; what went wrong can be reported. */
  it("hands out its files and reports problems", async () => {
    const opened: string[] = [];
    await show(
      () =>
        detail({
          artefacts: [
            {
              id: "a",
              step: 7,
              name: "table.csv",
              mediaType: "text/csv",
              bytes: 12,
              path: "/home/ana/kept/a",
            },
          ],
        }),
      {
        report_preview: () => ({
          preview: { folder: "/tmp/report", files: [], bytes: 0, redacted: 0 },
        }),
      },
    );
    cleanup();
    backend.native = {
      openPath: (path) => Promise.resolve(void opened.push(`open ${path}`)),
      revealPath: (path) => Promise.resolve(void opened.push(`reveal ${path}`)),
    };
    render(RunView, { props: { route: { name: "run", id: RUN } } });
    const row = within((await screen.findByText("table.csv")).closest("li") as HTMLElement);
    await user.click(row.getByRole("button", { name: "Open" }));
    await user.click(row.getByRole("button", { name: "Show in its folder" }));
    expect(opened).toEqual(["open /home/ana/kept/a", "reveal /home/ana/kept/a"]);
    expect(row.getByRole("button", { name: "Copy the path" })).toBeTruthy();
    expect(await violations()).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Report a problem…" }));
    expect(await screen.findByRole("dialog")).toBeTruthy();
    await waitFor(() => expect(backend.requests("report_preview")).toHaveLength(1));
  });

  /** Searching looks into whole answers too, which only the core has. */
  it("is searched in its outputs", async () => {
    await show(() => detail(), {
      calls_find: ({ words }) => ({ calls: words === "43 greeting" ? ["recorded_10"] : [] }),
    });
    await user.keyboard("{Control>}f{/Control}");
    await user.type(await steps().findByRole("searchbox"), "43 Greeting");
    expect(await steps().findByRole("button", { name: /run cat greeting/ })).toBeTruthy();
    expect(steps().getByText("1 step")).toBeTruthy();
    expect(backend.requests("calls_find").at(-1)).toEqual({ run: RUN, words: "43 greeting" });
  });

  /** Searching looks into steps and arguments. */
  it("can be searched", async () => {
    await show(() => detail());
    await user.click(steps().getByRole("button", { name: "Search the steps" }));
    await user.type(steps().getByRole("searchbox"), "draft.txt");
    expect(await steps().findByText("1 step")).toBeTruthy();
  });
});

describe("the next thing", () => {
  const shaped = (model: string) =>
    detail({
      spec: {
        model,
        backends: ["shell"],
        workspace: "/home/ana/work",
        preset: "ask-always",
        allow: ["read:/home/ana/letters"],
        display: "private",
        monitor: "DP-1",
        attachments: ["/home/ana/a.png"],
      },
      limits: { steps: 20, minutes: null, tokens: null, dollars: null },
    });

  async function ask(run: RunDetail) {
    await show(() => run, { run_start: () => ({ run: "next", task: "t", session: "s" }) });
    const field = screen.getByRole("textbox", { name: /Ask for the next thing/ });
    await user.type(field, "Now the totals{Enter}");
    await waitFor(() => expect(location.hash).toBe("#/runs/next"));
    return backend.requests("run_start");
  }

  /** It is done under the conditions of this run; what was granted and attached was for this one. */
  it("is asked for under the same conditions", async () => {
    expect(await ask(shaped("openai/x"))).toEqual([
      {
        task: "Now the totals",
        session: "s",
        model: "openai/x",
        backends: ["shell"],
        workspace: "/home/ana/work",
        preset: "ask-always",
        display: "private",
        monitor: "DP-1",
        limits: { steps: 20, minutes: null, tokens: null, dollars: null },
        allow: [],
        attachments: [],
      },
    ]);
  });

  /** The recorded demo can do nothing else: a model does what comes next. */
  it("is done by a model after the demo", async () => {
    const [request] = await ask(shaped("recorded/demo"));
    expect(request).not.toHaveProperty("model");
    expect(request?.preset).toBe("ask-always");
  });
});

describe("a run that goes", () => {
  const part = (until: number) => () => detail({ run: GOING, events: EVENTS.slice(0, until) });

  /** New events are drawn without asking for the whole again. */
  it("follows what happens", async () => {
    await show(part(31));
    const asked = backend.requests("run_detail").length;
    backend.tell(...EVENTS.slice(31, 34));
    expect(await steps().findByText("I press Save with the mouse.")).toBeTruthy();
    expect(backend.requests("run_detail")).toHaveLength(asked);
  });

  /** A missing event makes the window ask for a snapshot, and the result is the same as a fresh one. */
  it("asks again after a gap", async () => {
    let until = 20;
    await show(() => part(until)());
    until = 34;
    backend.tell(EVENTS[33] as StoredEvent);
    expect(await steps().findByText("I press Save with the mouse.")).toBeTruthy();
    expect(backend.requests("run_detail")).toHaveLength(2);
  });

  /** Pause, take over and stop tell the core at once. */
  it("can be told to rest, to give way and to stop", async () => {
    await show(part(34), { run_command: () => ({}), run_stop: () => ({}) });
    expect(screen.getByText("Agent is controlling mousepad")).toBeTruthy();
    await user.keyboard("p");
    await user.click(screen.getByRole("button", { name: "Take over" }));
    await user.click(screen.getByRole("button", { name: "Stop" }));
    expect(backend.requests("run_command").map((request) => request.command)).toEqual([
      "pause",
      "take_over",
    ]);
    expect(backend.requests("run_stop")).toEqual([{ run: RUN }]);
    expect(await violations()).toEqual([]);
  });

  /** What is written is queued; until it is heard it can be taken back into the field. */
  it("takes messages back", async () => {
    let waiting = [{ id: 5, text: "Use October", at: 1 }];
    await show(
      () => detail({ run: GOING, events: EVENTS.slice(0, 34), waitingMessages: waiting }),
      {
        run_command: () => ({}),
        run_message_withdraw: () => {
          waiting = [];
          return { text: "Use October" };
        },
      },
    );
    const field = screen.getByRole("textbox", { name: /Say something/ });
    await user.type(field, "Also the totals{Enter}");
    expect(backend.requests("run_command")[0]).toEqual({
      run: RUN,
      command: "message",
      text: "Also the totals",
    });
    await user.click(screen.getByRole("button", { name: "Edit" }));
    await waitFor(() => expect((field as HTMLTextAreaElement).value).toBe("Use October"));
    expect(screen.queryByText("queued")).toBeNull();
  });

  /** A message that could not be sent stays in the field, and the reason is told. */
  it("keeps words that were not sent", async () => {
    await show(part(34));
    const field = screen.getByRole("textbox", { name: /Say something/ });
    await user.type(field, "Hello{Enter}");
    expect(await screen.findByText(/It was not sent/)).toBeTruthy();
    expect((field as HTMLTextAreaElement).value).toBe("Hello");
  });

  /** Words that came too late for the run begin the next task. */
  it("starts the next task with words that came too late", async () => {
    await show(part(34), {
      run_command: () => {
        throw new CallFailed({
          code: "wrong_state",
          params: { reason: "answered" },
          message: "it has given its answer",
          retryable: false,
        });
      },
      run_start: () => ({ session: "s", task: "t", run: "next" }),
    });
    await user.type(screen.getByRole("textbox", { name: /Say something/ }), "Also bold{Enter}");
    expect(await screen.findByText(/has given its answer/)).toBeTruthy();
    const field = screen.getByRole("textbox", { name: /the next thing/ });
    expect((field as HTMLTextAreaElement).value).toBe("Also bold");
    await user.click(screen.getByRole("button", { name: "Start" }));
    const started = backend.requests("run_start")[0];
    expect(started).toMatchObject({ task: "Also bold", session: summary({}).session });
  });

  /** What is written while a message is on its way is the next one. */
  it("keeps what is written meanwhile", async () => {
    let sent: (() => void) | undefined;
    await show(part(34), {
      run_command: () => new Promise((resolve) => (sent = () => resolve({}))) as never,
    });
    const field = screen.getByRole<HTMLTextAreaElement>("textbox", { name: /Say something/ });
    await user.type(field, "Hello{Enter}");
    await user.type(field, " and more");
    sent?.();
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Send" }).hasAttribute("aria-busy")).toBe(false),
    );
    expect(field.value).toBe("Hello and more");
  });

  /** Who looks at another page finds the half-written message again, at the run it is for. */
  it("keeps what is half written", async () => {
    const { unmount } = await show(part(34));
    const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: /Say/ });
    await user.type(field(), "Use Oct");
    unmount();
    await show(part(34));
    expect(field().value).toBe("Use Oct");
  });

  /** The Enter that chooses a Chinese word sends nothing, in WebKit too. */
  it("leaves keys to the input method", async () => {
    await show(part(34), { run_command: () => ({}) });
    const field = screen.getByRole("textbox", { name: /Say something/ });
    await user.type(field, "你好");
    await fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    await fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    expect(backend.requests("run_command")).toEqual([]);
    await fireEvent.keyDown(field, { key: "Enter", keyCode: 13 });
    expect(backend.requests("run_command")).toHaveLength(1);
  });

  const driven = summary({
    status: "paused",
    going: true,
    endedAt: null,
    reason: { kind: "paused", pause: "take_over" },
  });

  /** Enter and the keys hand back as the button does, with the note, which is about one time only. */
  it("is handed back with the note by every key", async () => {
    await show(() => detail({ run: driven, events: EVENTS.slice(0, 34) }), {
      run_command: () => ({}),
    });
    const note = screen.getByRole<HTMLInputElement>("textbox", { name: /What you did/ });
    await user.type(note, "logged in{Enter}");
    await waitFor(() => expect(note.value).toBe(""));
    for (const key of ["p", "t"]) {
      await user.type(note, `by ${key}`);
      note.blur();
      await user.keyboard(key);
      await waitFor(() => expect(note.value).toBe(""));
    }
    expect(backend.requests("run_command").map(({ command, text }) => [command, text])).toEqual([
      ["hand_back", "logged in"],
      ["hand_back", "by p"],
      ["hand_back", "by t"],
    ]);
  });

  /** Handed back elsewhere, the note is not kept for the next time. */
  it("forgets a note that was not sent", async () => {
    let run = driven;
    await show(() => detail({ run, events: EVENTS.slice(0, 34) }));
    await user.type(screen.getByRole("textbox", { name: /What you did/ }), "logged in");
    runs.list = [(run = { ...driven, status: "running", reason: null })];
    await waitFor(() => expect(screen.queryByRole("textbox", { name: /What you did/ })).toBeNull());
    runs.list = [(run = driven)];
    const note = await screen.findByRole<HTMLInputElement>("textbox", { name: /What you did/ });
    expect(note.value).toBe("");
  });

  /** While the person drives, handing back takes a note along. */
  it("is handed back with a note", async () => {
    const run = driven;
    await show(() => detail({ run, events: EVENTS.slice(0, 34) }), { run_command: () => ({}) });
    expect(screen.getByText("You are in control")).toBeTruthy();
    await user.type(screen.getByRole("textbox", { name: /What you did/ }), "logged in");
    await user.click(screen.getByRole("button", { name: "Hand back" }));
    expect(backend.requests("run_command")).toEqual([
      { run: RUN, command: "hand_back", text: "logged in" },
    ]);
    expect(await violations()).toEqual([]);
  });
});

describe("a long run", () => {
  const said = (from: number, to: number): StoredEvent[] =>
    Array.from({ length: to - from + 1 }, (_, index) => ({
      id: from + index,
      topic: "run",
      key: RUN,
      seq: from + index,
      at: 1_000 * (from + index),
      kind: "step.text",
      v: 1,
      payload: { step: from + index, text: `Step number ${from + index}` },
    }));
  const list = () => screen.getByRole("list", { name: "Steps" });
  /** Where the list ends; jsdom lays nothing out, every row is 56 high and the list 600. */
  const end = (steps: number) => steps * 56 - 600;
  /** What a person does once the list has come to rest. */
  const scroll = async (to: number) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    list().scrollTop = to;
    await fireEvent.scroll(list());
    await waitFor(() => expect(list().scrollTop).toBe(to));
  };

  beforeEach(() => {
    const moved = function (this: Element, to?: ScrollToOptions | number) {
      if (typeof to !== "object") return;
      this.scrollTop = to.top ?? this.scrollTop;
      this.dispatchEvent(new Event("scroll"));
    };
    vi.spyOn(Element.prototype, "scrollTo").mockImplementation(moved);
    Element.prototype.scrollBy = () => undefined;
  });
  afterEach(() => vi.restoreAllMocks());

  /** It is followed at its end; who scrolls away to read stays there until Live is pressed. */
  it("is followed only while nobody reads", async () => {
    await show(() => detail({ run: GOING, events: said(1, 40) }));
    await waitFor(() => expect(list().scrollTop).toBe(end(40)));
    backend.tell(...said(41, 41));
    await waitFor(() => expect(list().scrollTop).toBe(end(41)));
    await scroll(300);
    backend.tell(...said(42, 42));
    await screen.findByRole("heading", { name: "Step 42" });
    expect(list().scrollTop).toBe(300);
    await user.click(screen.getByRole("button", { name: "Live" }));
    await waitFor(() => expect(list().scrollTop).toBe(end(42)));
  });

  /** What was chosen is shown once: further events do not take the list back to it. */
  it("stays where it is scrolled", async () => {
    await show(() => detail({ run: GOING, events: said(1, 40) }));
    await waitFor(() => expect(list().scrollTop).toBe(end(40)));
    const axis = screen.getByRole("slider");
    axis.focus();
    await user.keyboard("{Home}");
    await waitFor(() => expect(list().scrollTop).toBe(0));
    await scroll(1_000);
    backend.tell(...said(41, 41));
    await waitFor(() => expect(axis.getAttribute("aria-valuemax")).toBe("41"));
    expect(list().scrollTop).toBe(1_000);
  });
});

describe("a question of the run", () => {
  const asking = summary({
    status: "needs_approval",
    going: true,
    endedAt: null,
    step: 7,
    approvals: ["q1"],
  });

  async function ask(more: FakeBackend["answers"] = {}) {
    const open = question({ run: RUN });
    approvals.open = [open, question({ id: "q2", run: "another" })];
    await show(() => detail({ run: asking, events: EVENTS.slice(0, 34) }), {
      approvals_list: () => ({ approvals: approvals.open as ApprovalView[] }),
      approval_get: () => ({ ...open, state: "allowed_once", answeredBy: "page" }),
      approval_answer: () => {
        const answered = { ...open, state: "allowed_once" as const, answeredBy: "page" };
        approvals.open = [];
        return { counted: true, approval: answered };
      },
      ...more,
    });
  }

  const questions = () => within(screen.getByRole("group", { name: "A question of this run" }));

  /** It is shown whole where the run is, only its own, and its key leads to its title. */
  it("is asked where the run is shown", async () => {
    await ask();
    expect(questions().getAllByRole("heading", { level: 2 })).toHaveLength(1);
    for (const text of ["Delete 2 files", "risk: medium", "can be undone", "ls -la", "step 9"]) {
      expect(questions().getByText(text), text).toBeTruthy();
    }
    expect(await violations()).toEqual([]);
    await user.keyboard("a");
    expect(document.activeElement).toBe(questions().getByRole("heading", { level: 2 }));
    await user.keyboard("{Enter}");
    expect(backend.requests("approval_answer")).toEqual([]);
  });

  /** F7 leads to the question of this run first, then to those of others. */
  it("comes before those of others", async () => {
    await ask();
    await user.keyboard("{F7}");
    expect(document.activeElement).toBe(questions().getByRole("heading", { level: 2 }));
    await user.keyboard("{F7}");
    await waitFor(() => expect(location.hash).toMatch(/^#\/approvals\/q/));
  });

  /** What is answered by a key keeps the focus, on its title. */
  it("keeps the focus when it is answered", async () => {
    await ask();
    questions().getByRole("button", { name: "Deny" }).focus();
    await user.keyboard("{Enter}");
    await questions().findByText("Allowed once");
    await waitFor(() => expect(backend.requests("approvals_list")).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(document.activeElement).toBe(questions().getByRole("heading", { level: 2 }));
  });

  /** Answered, it says so and makes room for the run after a while, unless the focus is on it. */
  it("makes room once it is answered", async () => {
    await ask();
    const allow = await questions().findByRole<HTMLButtonElement>("button", { name: "Allow once" });
    await waitFor(() => expect(allow.disabled).toBe(false), { timeout: 2_000 });
    await user.click(allow);
    expect(await questions().findByText("Allowed once")).toBeTruthy();
    questions().getByRole("heading", { level: 2 }).focus();
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await vi.advanceTimersByTimeAsync(7_000);
    expect(questions().getByText("Allowed once")).toBeTruthy();
    (document.activeElement as HTMLElement).blur();
    await vi.advanceTimersByTimeAsync(7_000);
    vi.useRealTimers();
    await waitFor(() => expect(questions().queryByText("Allowed once")).toBeNull());
  });
});

/** An export shows file by file what it would hold and what would be hidden, before it is written. */
it("exports after a look", async () => {
  await show(() => detail(), {
    run_export_preview: () => ({
      files: [{ path: "run.json", bytes: 2_000, redacted: 2 }],
      redacted: 2,
      bytes: 2_000,
      folder: "/home/ana/run",
    }),
    run_export: (request) => ({ folder: request.folder, files: 1 }),
  });
  await user.click(await screen.findByRole("button", { name: "Export…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Export this run" }));
  expect(await dialog.findByText("2 secrets will be blacked out.")).toBeTruthy();
  expect(dialog.getByText("run.json")).toBeTruthy();
  expect(await violations()).toEqual([]);
  await user.click(dialog.getByRole("button", { name: "Write the folder" }));
  expect(await dialog.findByText("1 file was written.")).toBeTruthy();
  expect(backend.requests("run_export")).toEqual([{ run: RUN, folder: "/home/ana/run" }]);
});
