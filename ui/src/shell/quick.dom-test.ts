import { waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../tests/axe";
import { open, part, type SmallPage } from "../../tests/page";

const TEXTS = {
  language: "en",
  title: "New task",
  label: "What should be done?",
  keys: "Enter delegates",
  starting: "Handing it over…",
  failed: "It could not be handed over.",
  open: "Open OpenSpace",
};
let problems: { blocks: boolean; message: string; hint: string | null }[] = [];
let broken = false;

function opened(): SmallPage {
  const page = open("quick", (command, { name }) => {
    if (command !== "rpc") return null;
    if (broken) throw Object.assign(new Error("the store is gone"), { code: "store" });
    return name === "run_preflight" ? { problems } : { run: "r1" };
  });
  page.show(TEXTS);
  return page;
}

const field = () => part<HTMLTextAreaElement>("task");

function type(text: string) {
  field().value = text;
  field().dispatchEvent(new Event("input", { bubbles: true }));
}

function press(key: string, more: KeyboardEventInit = {}) {
  field().dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
}

/** What was asked besides sizes. */
const asked = ({ asked }: SmallPage) => asked.filter(([command]) => !command.startsWith("plugin:"));

beforeEach(() => {
  problems = [];
  broken = false;
});

describe("the quick window", () => {
  /** It is ready to type, in words, and has nothing that axe finds. */
  it("is ready to type", async () => {
    opened();
    expect(document.activeElement).toBe(field());
    expect(part("label").textContent).toBe("What should be done?");
    expect(document.title).toBe("New task");
    expect(part("open").hidden).toBe(true);
    expect(await violations()).toEqual([]);
  });

  /** Enter looks whether something is missing, hands the task over, and leaves an empty field. */
  it("hands a task over", async () => {
    const page = opened();
    type("  Tidy up ~/scans ");
    press("Enter");
    await waitFor(() => expect(asked(page)).toHaveLength(3));
    const request = { task: "Tidy up ~/scans", idempotencyKey: expect.any(String) as string };
    expect(asked(page)).toEqual([
      ["rpc", { name: "run_preflight", request }],
      ["rpc", { name: "run_start", request }],
      ["leave", {}],
    ]);
    await waitFor(() => expect(field().value).toBe(""));
    type("Another");
    press("Enter");
    await waitFor(() => expect(asked(page)).toHaveLength(6));
    const keys = asked(page).map(
      ([, { request }]) => (request as Record<string, unknown> | undefined)?.idempotencyKey,
    );
    expect(keys[0]).toBe(keys[1]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  /** What is typed while a task is on its way is the next one. */
  it("keeps what is typed meanwhile", async () => {
    const page = opened();
    type("Tidy up");
    press("Enter");
    type("Tidy up, and then");
    await waitFor(() => expect(asked(page)).toHaveLength(3));
    expect(asked(page)[1]?.[1].request).toMatchObject({ task: "Tidy up" });
    expect(field().value).toBe("Tidy up, and then");
  });

  /** A new line, a half-written character and an empty field start nothing. */
  it("does not start by mistake", () => {
    const page = opened();
    press("Enter");
    type("整理");
    press("Enter", { isComposing: true });
    press("Enter", { keyCode: 229 });
    press("Escape", { keyCode: 229 });
    press("Enter", { shiftKey: true });
    expect(asked(page)).toEqual([]);
  });

  /** Escape leaves, and what was typed is there the next time, ready to be replaced. */
  it("keeps what was not handed over", () => {
    const page = opened();
    type("Half a thought");
    press("Escape");
    expect(asked(page)).toEqual([["leave", {}]]);
    page.show(TEXTS);
    expect(field().value).toBe("Half a thought");
    expect([field().selectionStart, field().selectionEnd]).toEqual([0, 14]);
  });

  /** What is missing is told with what to do, nothing starts, and the window helps on. */
  it("says what is missing", async () => {
    problems = [
      { blocks: true, message: "No model is named.", hint: "Choose one." },
      { blocks: false, message: "No screen.", hint: null },
    ];
    const page = opened();
    type("Tidy up");
    press("Enter");
    await waitFor(() =>
      expect(part("trouble").textContent).toBe("No model is named.\nChoose one."),
    );
    expect(field().value).toBe("Tidy up");
    part("open").click();
    expect(asked(page).map(([command]) => command)).toEqual(["rpc", "leave"]);
    expect(asked(page).at(-1)).toEqual(["leave", { address: "openspace://tasks/new" }]);
    type("Tidy up!");
    expect(part("trouble").hidden).toBe(true);
  });

  /** A failure is told, what is English of it as English, and trying again is the same request. */
  it("can be tried again", async () => {
    broken = true;
    const page = opened();
    type("Tidy up");
    press("Enter");
    await waitFor(() =>
      expect(part("trouble").textContent).toBe("It could not be handed over.\nthe store is gone"),
    );
    expect(part("trouble").querySelector("[lang=en]")?.textContent).toBe("\nthe store is gone");
    expect(part("keys").textContent).toBe("Enter delegates");
    broken = false;
    press("Enter");
    await waitFor(() => expect(asked(page)).toHaveLength(4));
    const key = (index: number) => (asked(page)[index]?.[1].request as never)["idempotencyKey"];
    expect(key(0)).toBe(key(2));
  });

  /** Other words after a failure are another task, never the one that may have been begun. */
  it("is another task in other words", async () => {
    broken = true;
    const page = opened();
    type("Tidy up");
    press("Enter");
    await waitFor(() => expect(part("keys").textContent).toBe("Enter delegates"));
    broken = false;
    type("Tidy up the scans");
    press("Enter");
    await waitFor(() => expect(asked(page)).toHaveLength(4));
    const key = (index: number) => (asked(page)[index]?.[1].request as never)["idempotencyKey"];
    expect(key(2)).not.toBe(key(0));
  });

  /** It looks as the main window was told to look, and is as high as it has to be. */
  it("follows the look and fits", () => {
    localStorage.setItem("openspace-look", JSON.stringify({ theme: "dark" }));
    const laid = vi.spyOn(HTMLElement.prototype, "getBoundingClientRect");
    laid.mockReturnValue({ width: 560, height: 109.4 } as DOMRect);
    const { asked } = opened();
    laid.mockRestore();
    expect(document.documentElement.dataset.theme).toBe("dark");
    const [command, { value }] = asked.at(-1) ?? ["", {}];
    expect(command).toBe("plugin:window|set_size");
    expect(value).toEqual({ Logical: { width: 560, height: 110 } });
  });
});
