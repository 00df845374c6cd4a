import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend, type Response } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import { MOST_BYTES } from "../../lib/pictures";
import { composer } from "../../lib/state/composer.svelte";
import { models } from "../../lib/state/models.svelte";
import { program } from "../../lib/state/program.svelte";
import Composer from "./Composer.svelte";
// Loaded when it is wanted; here beforehand, so that no test waits for it.
import "./PathDialog.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let started: string[];

const FOUND: Response<"paths_find"> = {
  folder: "/home/ana/work",
  paths: [
    { path: "june.csv", absolute: "/home/ana/work/june.csv", isFolder: false },
    { path: "my notes/june.txt", absolute: "/home/ana/work/my notes/june.txt", isFolder: false },
  ],
  more: false,
};

async function show(more: FakeBackend["answers"] = {}) {
  backend = new FakeBackend({
    app_state: () => appState(),
    models_list: () => ({
      providers: [],
      models: [{ name: "openai/gpt-5" }] as Response<"models_list">["models"],
    }),
    ui_state_get: () => ({ value: null }),
    ui_state_set: () => ({}),
    run_preflight: () => ({ problems: [] }),
    run_start: () => ({ run: "r", task: "t", session: "s" }),
    paths_find: () => FOUND,
    attachment_add: ({ name }) => ({ path: `${appState().data}/attachments/p1/${name}.png` }),
    attachment_remove: () => ({}),
    ...more,
  });
  useBackend(backend);
  await program.load();
  await models.load();
  started = [];
  return render(Composer, { props: { onstarted: (run: string) => started.push(run) } });
}

const field = () =>
  screen.getByRole<HTMLTextAreaElement>("textbox", { name: "What is to be done" });
const suggestions = () => screen.queryByRole("listbox", { name: "Suggestions" });
const lines = () =>
  within(screen.getByRole("listbox", { name: "Suggestions" }))
    .getAllByRole("option")
    .map((option) => option.textContent?.replace(/\s+/g, " ").trim());

beforeEach(() => {
  composer.changed({
    task: "",
    folder: "",
    attachments: [],
    backends: null,
    preset: "",
    model: "",
    steps: null,
    private: false,
  });
  composer.refused = [];
});
afterEach(() => vi.restoreAllMocks());

describe("a stroke", () => {
  /** It offers what the composer itself can do; the keys choose, and what was typed is gone. */
  it("offers what can be set", async () => {
    await show();
    await user.type(field(), "Count files{Shift>}{Enter}{/Shift}/");
    expect(suggestions()).toBeTruthy();
    expect(lines()).toContain("Choose a folder… Folder to work in");
    expect(lines()).toContain("openai/gpt-5 Model");
    expect(await violations()).toEqual([]);
    await user.type(field(), "ask every");
    expect(lines()).toEqual(["Ask every time How much is asked"]);
    expect(field().getAttribute("aria-activedescendant")).toBe(
      suggestions()?.querySelector('[role="option"]')?.id,
    );
    await user.keyboard("{Enter}");
    expect(composer.draft.preset).toBe("ask-always");
    expect(composer.draft.task).toBe("Count files\n");
    expect(suggestions()).toBeNull();
    expect(backend.requests("run_start")).toEqual([]);
  });

  /** The arrows go round, and Tab takes what is chosen. */
  it("is used with the arrows", async () => {
    await show();
    await user.type(field(), "/most steps");
    expect(lines()[0]).toMatch(/^Limits as set chosen/);
    await user.keyboard("{ArrowUp}{ArrowUp}{Tab}");
    expect(composer.draft.steps).toBe(100);
    expect(document.activeElement).toBe(field());
  });

  /** One back end always stays; what was chosen is marked. */
  it("switches back ends", async () => {
    await show();
    await user.type(field(), "/screen{Enter}");
    expect(composer.draft.backends).toEqual(["shell"]);
    await user.type(field(), "/shell{Enter}");
    expect(composer.draft.backends).toEqual(["shell"]);
  });

  /** What fits nothing is text, a path is text, and Escape leaves what was typed. */
  it("stays text where it means nothing", async () => {
    await show();
    await user.type(field(), "/etc is broken");
    expect(suggestions()).toBeNull();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(started).toEqual(["r"]));
    expect(backend.requests("run_start")[0]?.task).toBe("/etc is broken");
    await user.type(field(), "/model");
    await user.keyboard("{Escape}");
    expect(suggestions()).toBeNull();
    expect(field().value).toBe("/model");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(started).toHaveLength(2));
  });

  /** It opens the same choice as the button. */
  it("opens the choice of a folder", async () => {
    await show();
    await user.type(field(), "/folder{Enter}");
    expect(await screen.findByRole("dialog", { name: "Folder to work in" })).toBeTruthy();
  });
});

describe("an at sign", () => {
  /** It finds files of the chosen folder; the one taken is named and given along. */
  it("finds a file", async () => {
    await show();
    composer.changed({ folder: "~/work" });
    await user.type(field(), "Sum up @ju");
    await waitFor(() => expect(lines()).toEqual(["june.csv", "my notes/june.txt"]));
    expect(backend.requests("paths_find").at(-1)).toEqual({ words: "ju", folder: "~/work" });
    expect(await violations()).toEqual([]);
    await user.keyboard("{ArrowDown}{Enter}");
    expect(field().value).toBe('Sum up "my notes/june.txt" ');
    expect(composer.draft.attachments).toEqual(["/home/ana/work/my notes/june.txt"]);
    expect(field().selectionStart).toBe(field().value.length);
    expect(backend.requests("run_start")).toEqual([]);
  });

  /** Nothing starts while the list is on its way, and nothing found is said. */
  it("waits for the answer", async () => {
    await show({ paths_find: () => ({ folder: "/home/ana", paths: [], more: false }) });
    await user.type(field(), "Read @nothing{Enter}");
    expect(backend.requests("run_preflight")).toEqual([]);
    expect(await screen.findByText("Nothing in /home/ana has such a name.")).toBeTruthy();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(started).toEqual(["r"]));
  });

  /** A folder that cannot be read is told where the list would be. */
  it("tells what went wrong", async () => {
    await show({
      paths_find: () => {
        throw new CallFailed(failure("it is gone", "invalid_request"));
      },
    });
    await user.type(field(), "@a");
    expect(await screen.findByText("The request does not make sense as it is.")).toBeTruthy();
  });
});

/** What failed is asked for again under the same name; what was changed since then is another task. */
it("asks for the same again, and for another thing as another", async () => {
  let broken = true;
  await show({
    run_start: () => {
      if (broken) throw new CallFailed(failure("store"));
      return { run: "r", task: "t", session: "s" };
    },
  });
  const keys = () => backend.requests("run_start").map((request) => request.idempotencyKey);
  await user.type(field(), "Count files{Enter}");
  await waitFor(() => expect(keys()).toHaveLength(1));
  await user.type(field(), "{Enter}");
  await waitFor(() => expect(keys()).toHaveLength(2));
  broken = false;
  await user.type(field(), " and folders{Enter}");
  await waitFor(() => expect(started).toEqual(["r"]));
  expect(keys()[1]).toBe(keys()[0]);
  expect(keys()[2]).not.toBe(keys()[0]);
});

/** What is written while a run is being started is the next task. */
it("keeps what is written meanwhile", async () => {
  let looked: (() => void) | undefined;
  await show({
    run_preflight: () =>
      new Promise((resolve) => (looked = () => resolve({ problems: [] }))) as never,
  });
  await user.type(field(), "Count files{Enter}");
  await user.type(field(), " and folders");
  composer.attach(["/home/ana/more.txt"]);
  looked?.();
  await waitFor(() => expect(started).toEqual(["r"]));
  expect(backend.requests("run_start")[0]).toMatchObject({ task: "Count files", attachments: [] });
  expect(field().value).toBe("Count files and folders");
  expect(composer.draft.attachments).toEqual(["/home/ana/more.txt"]);
});

/** The Enter that chooses a Chinese word starts nothing, in WebKit too, which says so by its code alone. */
it("leaves keys to the input method", async () => {
  await show();
  await user.type(field(), "整理");
  await fireEvent.keyDown(field(), { key: "Enter", keyCode: 229 });
  expect(backend.requests("run_preflight")).toEqual([]);
  await fireEvent.keyDown(field(), { key: "Enter", keyCode: 13 });
  await waitFor(() => expect(started).toEqual(["r"]));
});

/** A file as the clipboard or the file manager hands it over. */
function file(name: string, type: string, bytes: number | Uint8Array<ArrayBuffer>): File {
  const made = new File([typeof bytes === "number" ? "x" : bytes], name, { type });
  if (typeof bytes === "number") Object.defineProperty(made, "size", { value: bytes });
  return made;
}

const transfer = (types: string[], ...files: File[]) => ({ types, files });

describe("pictures", () => {
  const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

  /** A pasted one goes to the core and is attached under its name; removed, it is removed there too. */
  it("are pasted", async () => {
    await show();
    await fireEvent.paste(field(), {
      clipboardData: transfer(["Files"], file("image.png", "image/png", PNG)),
    });
    const chip = await screen.findByText("picture-1.png");
    expect(backend.requests("attachment_add")).toEqual([
      { name: "picture-1", data: btoa("\x89PNG") },
    ]);
    const [path] = composer.draft.attachments;
    expect(path).toContain("/attachments/p1/picture-1.png");
    expect(chip).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Remove picture-1.png" }));
    expect(composer.draft.attachments).toEqual([]);
    expect(backend.requests("attachment_remove")).toEqual([{ path }]);
  });

  /** Text that brings a picture of itself along is text. */
  it("are not made of copied text", async () => {
    await show();
    await fireEvent.paste(field(), {
      clipboardData: transfer(
        ["text/plain", "text/html", "Files"],
        file("image.png", "image/png", PNG),
      ),
    });
    expect(backend.requests("attachment_add")).toEqual([]);
  });

  /** What cannot be shown is refused with what to do, each by its reason, and the rest is attached. */
  it("are refused with a reason", async () => {
    await show({
      attachment_add: ({ name }) => {
        if (name !== "broken.png") return { path: `/data/${name}` };
        throw new CallFailed({
          ...failure("damaged", "invalid_request"),
          params: { why: "damaged" },
        });
      },
    });
    const over = transfer(["Files"]);
    await fireEvent.dragOver(window, { dataTransfer: over });
    expect(await screen.findByText("Let go to give it along")).toBeTruthy();
    await fireEvent.drop(window, {
      dataTransfer: transfer(
        ["Files"],
        file("movie.mp4", "video/mp4", PNG),
        file("huge.png", "image/png", MOST_BYTES + 1),
        file("broken.png", "image/png", PNG),
        file("good.jpg", "image/jpeg", PNG),
      ),
    });
    const alert = await screen.findByRole("alert");
    expect(within(alert).getByText(/movie\.mp4 was not added: only PNG and JPEG/)).toBeTruthy();
    expect(
      within(alert).getByText(/huge\.png was not added: it is larger than 8\.4 MB/),
    ).toBeTruthy();
    expect(within(alert).getByText(/broken\.png was not added: it is no picture/)).toBeTruthy();
    expect(composer.draft.attachments).toEqual(["/data/good.jpg"]);
    expect(await violations()).toEqual([]);
  });

  /** Who starts at once does not lose what is still on its way. */
  it("are waited for", async () => {
    await show();
    composer.changed({ task: "What is this?" });
    void composer.addPictures([file("a.png", "image/png", PNG)]);
    await user.type(field(), "{Enter}");
    await waitFor(() => expect(started).toEqual(["r"]));
    expect(backend.requests("run_start")[0]?.attachments).toHaveLength(1);
  });

  /** The window of the app knows where the files lie: any kind of file is attached. */
  it("are dropped as paths where they are known", async () => {
    let told: { over(now: boolean): void; drop(paths: string[]): void } | undefined;
    const onDrop = (handlers: NonNullable<typeof told>) => {
      told = handlers;
      return () => (told = undefined);
    };
    await show();
    const shown = render(Composer, { props: { onstarted: () => undefined } });
    shown.unmount();
    Object.assign(backend, { native: { onDrop } });
    render(Composer, { props: { onstarted: () => undefined } });
    await waitFor(() => expect(told).toBeDefined());
    told?.drop(["/home/ana/movie.mp4"]);
    expect(composer.draft.attachments).toEqual(["/home/ana/movie.mp4"]);
  });
});
