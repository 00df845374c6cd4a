import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { appState, detail, summary } from "../../../tests/samples";
import { useBackend, type RunSummary } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import Toasts from "../../components/Toasts.svelte";
import { announcer } from "../../lib/state/announcer.svelte";
import { appearance } from "../../lib/state/appearance.svelte";
import { composer } from "../../lib/state/composer.svelte";
import { commands } from "../../lib/state/commands.svelte";
import { program } from "../../lib/state/program.svelte";
import { runs, UNDO } from "../../lib/state/runs.svelte";
import { deleteRun } from "./actions";
// Loaded when they are wanted; here beforehand, so that no test waits for them.
import "../../components/MenuParts.svelte";
import "../runs/ExportDialog.svelte";
import "./RunPreview.svelte";
import "./StopDialog.svelte";
import TasksView from "./TasksView.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let stop: () => void;

async function show(list: RunSummary[], more: FakeBackend["answers"] = {}) {
  backend = new FakeBackend({
    app_state: () => appState(),
    runs_list: () => ({ runs: list, cursor: 1 }),
    models_list: () => ({ providers: [], models: [] }),
    ui_state_get: () => ({ value: null }),
    ui_state_set: () => ({}),
    ...more,
  });
  useBackend(backend);
  await program.load();
  stop = runs.start();
  await waitFor(() => expect(runs.loading).toBe(false));
  commands.context = "tasks";
  const main = document.createElement("main");
  document.body.append(main);
  return render(TasksView, { target: main, props: { route: { name: "tasks" } } });
}

beforeEach(() => {
  runs.list = [];
  runs.loading = true;
  composer.changed({ task: "", attachments: [] });
});
afterEach(() => stop());

describe("the list of runs", () => {
  /** Each run is a link with its status in words, and what waits for a person offers the review. */
  it("shows runs", async () => {
    await show([
      summary({
        id: "a",
        text: "Clean up",
        status: "needs_approval",
        going: true,
        approvals: ["q"],
        endedAt: null,
      }),
      summary({ id: "b", text: "Weekly report\nwith details" }),
    ]);
    const rows = await screen.findAllByRole("article");
    expect(rows).toHaveLength(2);
    const [first, second] = rows.map((row) => within(row));
    expect(first?.getByRole("link", { name: "Clean up" }).getAttribute("href")).toBe("#/runs/a");
    expect(first?.getByText("needs approval")).toBeTruthy();
    expect(first?.getByRole("link", { name: "Review" }).getAttribute("href")).toBe("#/approvals/q");
    expect(second?.getByRole("link", { name: "Weekly report" })).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** Filters are pressed buttons; what they leave out can be brought back. */
  it("filters", async () => {
    await show([summary({ id: "a", text: "Clean up" })]);
    await user.click(screen.getByRole("button", { name: /Running/ }));
    expect(screen.getByText("No run fits these filters.")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Show all" }));
    expect(await screen.findByRole("link", { name: "Clean up" })).toBeTruthy();
  });

  /** Runs that are too old to be loaded are found all the same; what was typed last counts. */
  it("finds old runs", async () => {
    const old = summary({ id: "z", text: "Sort the letters of 2019", status: "failed" });
    await show([summary({ id: "a", text: "Clean up" })], {
      runs_list: ({ containing, statuses }) => {
        const fits = containing === "sort" || statuses.includes("failed");
        return { runs: fits ? [old] : [summary({ id: "a", text: "Clean up" })], cursor: 1 };
      },
    });
    await user.type(screen.getByRole("searchbox"), "sort");
    expect(await screen.findByRole("link", { name: old.text })).toBeTruthy();
    expect(screen.queryByRole("link", { name: "Clean up" })).toBeNull();
    expect(backend.requests("runs_list").at(-1)).toMatchObject({ containing: "sort" });
    await user.clear(screen.getByRole("searchbox"));
    expect(await screen.findByRole("link", { name: "Clean up" })).toBeTruthy();
    expect(screen.queryByRole("link", { name: old.text })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Not done" }));
    expect(await screen.findByRole("link", { name: old.text })).toBeTruthy();
  });

  /** Nothing there yet: the demo and three tasks to begin with. */
  it("begins with the demo", async () => {
    await show([]);
    expect(screen.getByRole("button", { name: "Start the demo" })).toBeTruthy();
    await user.click(screen.getByRole("button", { name: /Rename the scans/ }));
    expect(composer.draft.task).toMatch(/^Rename the scans/);
    expect(await violations()).toEqual([]);
  });

  /** What failed is told with a way to try again, and what was known stays. */
  it("keeps what it knows when loading fails", async () => {
    let fail = false;
    await show([summary({ id: "a", text: "Clean up" })], {
      runs_list: () => {
        if (fail) throw new CallFailed(failure("the disk is full", "store"));
        return { runs: [summary({ id: "a", text: "Clean up" })], cursor: 1 };
      },
    });
    fail = true;
    await runs.load();
    expect(await screen.findByRole("alert")).toBeTruthy();
    expect(await screen.findByRole("link", { name: "Clean up" })).toBeTruthy();
    fail = false;
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });
});

describe("the keys of the list", () => {
  const going = (id: string, createdAt: number, more: Partial<RunSummary> = {}) =>
    summary({ id, text: `Task ${id}`, status: "running", going: true, createdAt, ...more });
  const [a, b, c] = [going("a", 2_000), going("b", 1_000), going("c", 3_000)];

  beforeEach(() => addEventListener("keydown", commands.onkeydown));
  afterEach(() => removeEventListener("keydown", commands.onkeydown));

  const focused = (id: string) =>
    waitFor(() => expect(document.activeElement?.getAttribute("href")).toBe(`#/runs/${id}`));

  /** A run that is queued above moves the rows, not what was selected. */
  it("mean the run that was selected", async () => {
    await show([a, b], { run_stop: () => ({}), runs_get: () => ({ runs: [a], cursor: 1 }) });
    await user.keyboard("j");
    await focused("a");
    runs.list = [c, a, b];
    await screen.findByRole("link", { name: "Task c" });
    await user.keyboard(".");
    expect(backend.requests("run_stop")).toEqual([{ run: "a" }]);
    await user.keyboard("j");
    await focused("b");
    await user.keyboard("kk");
    await focused("c");
  });

  /** When it is gone they go on where it was. */
  it("go on where the run was", async () => {
    await show([c, a, b]);
    await user.keyboard("j");
    await focused("c");
    await user.keyboard("j");
    await focused("a");
    runs.leave("a");
    await waitFor(() => expect(screen.queryByRole("link", { name: "Task a" })).toBeNull());
    await user.keyboard(".");
    expect(backend.requests("run_stop")).toEqual([]);
    await user.keyboard("j");
    await focused("b");
    runs.keep("a");
  });

  /** What moves the mouse is stopped after a second thought, and not when the key was a slip. */
  it("ask before they stop what is in control", async () => {
    const acting = { ...a, inControl: true };
    await show([acting], { run_stop: () => ({}), runs_get: () => ({ runs: [acting], cursor: 1 }) });
    await user.keyboard("j");
    await focused("a");
    await user.keyboard(".");
    const dialog = await screen.findByRole("dialog", { name: "Stop Task a" });
    expect(await violations()).toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(backend.requests("run_stop")).toEqual([]);
    await focused("a");
    await user.keyboard(".");
    await screen.findByRole("dialog");
    const button = screen.getByRole("button", { name: "Stop" });
    await waitFor(() => expect(document.activeElement).toBe(button));
    await user.keyboard("{Enter}");
    expect(backend.requests("run_stop")).toEqual([{ run: "a" }]);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });
});

/** What came in is told; older runs that are loaded by scrolling are not new. */
it("tells of new runs alone", async () => {
  const run = (id: string, createdAt: number) => summary({ id, text: id, createdAt });
  await show([run("b", 2_000)]);
  const said = vi.spyOn(announcer, "say");
  runs.list = [run("b", 2_000), run("a", 1_000)];
  await screen.findByRole("link", { name: "a" });
  expect(said).not.toHaveBeenCalled();
  runs.list = [run("d", 4_000), run("c", 3_000), ...runs.list];
  await screen.findByRole("link", { name: "d" });
  expect(said.mock.calls).toEqual([["2 new runs"]]);
  said.mockRestore();
});

describe("a row", () => {
  /** A run is exported from the list as well, after a look at what that holds. */
  it("exports", async () => {
    await show([summary({ id: "a", text: "Clean up" })], {
      run_export_preview: () => ({ folder: "/tmp/x", files: [], bytes: 0, redacted: 0 }),
    });
    await user.click(await screen.findByRole("button", { name: "More for Clean up" }));
    await user.click(await screen.findByRole("menuitem", { name: "Export…" }));
    expect(await screen.findByRole("dialog")).toBeTruthy();
    await waitFor(() => expect(backend.requests("run_export_preview")).toEqual([{ run: "a" }]));
  });

  /** The space bar shows a run at a glance, and presses what has the focus everywhere else. */
  it("is looked at with the space bar", async () => {
    const list = [
      summary({ id: "a", text: "Clean up", answer: "12 files are gone." }),
      summary({ id: "b", text: "Weekly report" }),
    ];
    await show(list, { run_detail: () => detail({ run: list[0] as RunSummary }) });
    addEventListener("keydown", commands.onkeydown);
    await user.keyboard(" ");
    expect(screen.queryByRole("dialog")).toBeNull();
    await user.keyboard("j");
    await waitFor(() => expect(document.activeElement?.getAttribute("href")).toBe("#/runs/a"));
    await user.keyboard(" ");
    const preview = within(await screen.findByRole("dialog", { name: "Clean up" }));
    expect(preview.getByText("12 files are gone.")).toBeTruthy();
    expect(preview.getByRole("link", { name: "Open the run" }).getAttribute("href")).toBe(
      "#/runs/a",
    );
    expect(location.hash).toBe("");
    expect(await violations()).toEqual([]);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    screen.getByRole("button", { name: "More for Weekly report" }).focus();
    await user.keyboard(" ");
    expect(await screen.findByRole("menu")).toBeTruthy();
    expect(screen.queryByRole("dialog")).toBeNull();
    removeEventListener("keydown", commands.onkeydown);
  });
});

describe("deleting", () => {
  /** It can be undone, and only when it was not is the core told. */
  it("waits for second thoughts", async () => {
    await show([summary({ id: "a", text: "Clean up" }), summary({ id: "b", text: "Scans" })], {
      run_delete: () => ({}),
    });
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const [first, second] = runs.list;
    if (!first || !second) throw new Error("two runs are there");
    deleteRun(first);
    deleteRun(second);
    await waitFor(() => expect(screen.queryByRole("link", { name: "Clean up" })).toBeNull());
    runs.keep("b");
    expect(await screen.findByRole("link", { name: "Scans" })).toBeTruthy();
    expect(backend.requests("run_delete")).toEqual([]);
    await vi.advanceTimersByTimeAsync(UNDO);
    vi.useRealTimers();
    await waitFor(() => expect(backend.requests("run_delete")).toEqual([{ run: "a" }]));
    expect(runs.list.map((run) => run.id)).toEqual(["b"]);
  });

  /** As long as its note is held there is time, and undone it stays. */
  it("waits while somebody is at the note", async () => {
    await show([summary({ id: "a", text: "Clean up" })], { run_delete: () => ({}) });
    render(Toasts);
    vi.useFakeTimers({ shouldAdvanceTime: true });
    deleteRun(runs.list[0] as RunSummary);
    const undo = await screen.findByRole("button", { name: "Undo" });
    await fireEvent.pointerEnter(screen.getByRole("region", { name: "Notes" }));
    await vi.advanceTimersByTimeAsync(3 * UNDO);
    expect(backend.requests("run_delete")).toEqual([]);
    await fireEvent.click(undo);
    await vi.advanceTimersByTimeAsync(3 * UNDO);
    vi.useRealTimers();
    expect(await screen.findByRole("link", { name: "Clean up" })).toBeTruthy();
    expect(backend.requests("run_delete")).toEqual([]);
  });

  /** What could not be deleted is there again, and the list is as true as before. */
  it("says that it failed", async () => {
    await show([summary({ id: "a", text: "Clean up" })]);
    render(Toasts);
    deleteRun(runs.list[0] as RunSummary);
    await user.click(await screen.findByRole("button", { name: "Close" }));
    expect(await screen.findByText(/^The run was not deleted\./)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Clean up" })).toBeTruthy();
    expect(screen.queryByText("The runs could not be loaded.")).toBeNull();
    expect(runs.failure).toBeNull();
  });
});

describe("the composer", () => {
  /** Enter starts the run with what was chosen; the field is empty for the next one. */
  it("starts a run", async () => {
    await show([], {
      run_preflight: () => ({ problems: [] }),
      run_start: () => ({ run: "new", task: "t", session: "s" }),
    });
    await user.click(screen.getByRole("button", { name: "Screen" }));
    await user.type(
      screen.getByRole("textbox", { name: "What is to be done" }),
      "Count files{Enter}",
    );
    await waitFor(() => expect(location.hash).toBe("#/runs/new"));
    expect(backend.requests("run_start")[0]).toMatchObject({
      task: "Count files",
      backends: ["shell"],
      allow: [],
    });
    expect(composer.draft.task).toBe("");
  });

  /** Something is missing: nothing starts, it is named, and the words stay. */
  it("names what is missing", async () => {
    await show([], {
      run_preflight: () => ({
        problems: [
          {
            about: "model",
            blocks: true,
            message: "No key was found.",
            hint: "Add it in the settings.",
            details: "anthropic refused the key",
            path: null,
          },
        ],
      }),
    });
    await user.type(
      screen.getByRole("textbox", { name: "What is to be done" }),
      "Count files{Enter}",
    );
    expect(await screen.findByText("No key was found.")).toBeTruthy();
    expect(screen.getByRole("link", { name: "Mend it" }).getAttribute("href")).toBe(
      "#/settings/models",
    );
    expect(screen.getByText("Add it in the settings.")).toBeTruthy();
    // What only the core says is English, and is marked so.
    expect(screen.getByText("anthropic refused the key").lang).toBe("en");
    expect(backend.requests("run_start")).toEqual([]);
    expect(composer.draft.task).toBe("Count files");
  });

  /** What is in the composer itself is mended there. */
  it("mends what is missing in place", async () => {
    const problem = { blocks: true, hint: null, details: null };
    await show([], {
      run_preflight: ({ attachments, workspace }) => ({
        problems: [
          ...(attachments ?? []).map((path) => ({
            ...problem,
            about: "attachment" as const,
            message: `${path} cannot be read.`,
            path,
          })),
          ...(workspace
            ? [{ ...problem, about: "folder" as const, message: "No folder.", path: workspace }]
            : []),
        ],
      }),
      run_start: () => ({ run: "new", task: "t", session: "s" }),
    });
    composer.changed({ attachments: ["~/a.txt"], folder: "/gone" });
    const field = screen.getByRole("textbox", { name: "What is to be done" });
    await user.type(field, "Count files{Enter}");
    await user.click(await screen.findByRole("button", { name: "Take it off" }));
    expect(composer.draft.attachments).toEqual([]);
    await user.type(field, "{Enter}");
    await user.click(await screen.findByRole("button", { name: "Leave the folder out" }));
    expect(composer.draft.folder).toBe("");
    await user.type(field, "{Enter}");
    await waitFor(() => expect(location.hash).toBe("#/runs/new"));
  });

  /** Who wants none has no single letters that do something, and all the other keys. */
  it("leaves letters alone where they are switched off", async () => {
    await show([summary({ id: "a", text: "Clean up" })]);
    const field = screen.getByRole("textbox", { name: "What is to be done" });
    addEventListener("keydown", commands.onkeydown);
    appearance.set({ letters: false });
    await user.keyboard("n/f");
    expect(document.activeElement).toBe(document.body);
    await user.keyboard("{ArrowDown}");
    await waitFor(() => expect(document.activeElement?.getAttribute("href")).toBe("#/runs/a"));
    appearance.set({ letters: true });
    await user.keyboard("n");
    expect(document.activeElement).toBe(field);
    removeEventListener("keydown", commands.onkeydown);
  });

  /** Shift and Enter make a new line; a letter that is a shortcut elsewhere is a letter here. */
  it("takes text as text", async () => {
    await show([]);
    const field = screen.getByRole("textbox", { name: "What is to be done" });
    addEventListener("keydown", commands.onkeydown);
    await user.type(field, "n{Shift>}{Enter}{/Shift}f");
    removeEventListener("keydown", commands.onkeydown);
    expect(composer.draft.task).toBe("n\nf");
  });
});
