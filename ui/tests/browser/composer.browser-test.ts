import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Core } from "./core";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
  for (const [name, text] of [
    ["june.csv", "month,sum\nJune,42\n"],
    ["notes/june plan.md", "# June\n"],
    ["built/june.html", ""],
    [".gitignore", "built/\n"],
  ] as const) {
    const path = join(core.home, "work", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  }
});
afterAll(() => core.end());

const field = (page: Page) => page.getByRole("textbox", { name: "What is to be done" });

/** A page with nothing written yet. */
async function open(): Promise<Page> {
  await core.ask("ui_state_set", { key: "composer", value: null });
  return core.open("/tasks");
}

/** What the model was shown last that was a task with tools. */
const heard = () => core.model.heard.filter((body) => body.includes('"tools"')).at(-1) ?? "";

/** A file with these bytes, or a grey picture of this size. */
interface Given {
  name: string;
  type: string;
  content: readonly number[] | { width: number; height: number };
}

/** Hands files to the page as the clipboard or a drag does. */
function give(page: Page, how: "paste" | "drop", files: readonly Given[]) {
  return page.evaluate(
    async ([how, files]) => {
      const data = new DataTransfer();
      for (const { name, type, content } of files) {
        let bytes: BlobPart = new Uint8Array();
        if ("width" in content) {
          const canvas = new OffscreenCanvas(content.width, content.height);
          const context = canvas.getContext("2d");
          if (context) context.fillStyle = "grey";
          context?.fillRect(0, 0, content.width, content.height);
          bytes = await canvas.convertToBlob({ type });
        } else {
          bytes = new Uint8Array(content);
        }
        data.items.add(new File([bytes], name, { type }));
      }
      const target = how === "paste" ? document.activeElement : document.body;
      const init = { bubbles: true, cancelable: true };
      target?.dispatchEvent(
        how === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: data })
          : new DragEvent("drop", { ...init, dataTransfer: data }),
      );
    },
    [how, files] as const,
  );
}

describe("the composer", () => {
  /** After a stroke it offers what it can do itself, for the keyboard alone; the draft outlives a reload. */
  it("offers choices after a stroke", async () => {
    const page = await open();
    await field(page).click();
    await page.keyboard.type("/hands");
    await page
      .getByRole("listbox", { name: "Suggestions" })
      .getByText("Hands-off inside limits")
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.keyboard.type("Count files");
    const preset = page.getByRole("combobox", { name: "How much is asked" });
    expect(await preset.inputValue()).toBe("hands-off");
    // The draft is kept a moment later.
    await page.waitForTimeout(700);
    await page.reload();
    await expect.poll(() => field(page).inputValue()).toBe("Count files");
    expect(await preset.inputValue()).toBe("hands-off");
    await page.context().close();
  });

  /** An at sign finds files of the chosen folder, and the one taken goes along with the task. */
  it("finds files of the folder", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Folder", exact: true }).click();
    await page.getByLabel("Path", { exact: true }).fill("~/work");
    await page.getByRole("button", { name: "Use it" }).click();
    await field(page).click();
    await page.keyboard.type("Sum up @JUNE");
    const list = page.getByRole("listbox", { name: "Suggestions" });
    await list.getByRole("option").first().waitFor();
    expect(await list.getByRole("option").allInnerTexts()).toEqual([
      "june.csv",
      "notes/june plan.md",
    ]);
    await page.keyboard.press("Enter");
    expect(await field(page).inputValue()).toBe("Sum up june.csv ");
    core.model.will("It is 42.");
    await page.keyboard.press("Enter");
    await page.getByText("It is 42.").first().waitFor();
    expect(heard()).toContain("Sum up june.csv");
    expect(heard()).toContain(`Attached file: ${join(core.home, "work/june.csv")}`);
    await page.context().close();
  });

  /** A pasted picture is kept by the core, shown to the model, and goes with the run that is deleted. */
  it("takes pasted pictures along", async () => {
    const page = await open();
    await field(page).click();
    await give(page, "paste", [
      { name: "image.png", type: "image/png", content: { width: 40, height: 30 } },
    ]);
    await page.getByText("picture-1.png").waitFor();
    await page.keyboard.type("What colour is this?");
    const kept = join(core.home, "data/attachments");
    expect(readdirSync(kept)).toHaveLength(1);
    core.model.will("Grey.");
    await page.keyboard.press("Enter");
    await page.getByText("Grey.").first().waitFor();
    expect(heard()).toContain("data:image/");
    expect(heard()).toMatch(/Attached file: [^"]*picture-1\.png/);
    // The run had a copy where its tools may read; our own data is closed to them.
    expect(heard()).not.toContain(kept);
    const { runs } = await core.ask<{ runs: { id: string }[] }>("runs_list");
    await core.ask("run_delete", { run: runs[0]?.id });
    expect(readdirSync(kept)).toEqual([]);
    await page.context().close();
  });

  /** What is dropped and cannot be shown is refused with what to do; one taken back is gone. */
  it("refuses what it cannot take", async () => {
    const page = await open();
    await give(page, "drop", [
      { name: "movie.mp4", type: "video/mp4", content: [1, 2, 3] },
      { name: "broken.png", type: "image/png", content: [0x89, 0x50, 0x4e, 0x47, 1, 2] },
      { name: "good.png", type: "image/png", content: { width: 8, height: 8 } },
    ]);
    const alert = page.getByRole("alert");
    await alert.getByText("movie.mp4 was not added: only PNG and JPEG", { exact: false }).waitFor();
    await alert.getByText("broken.png was not added: it is no picture", { exact: false }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove good.png" }).click();
    await expect.poll(() => readdirSync(join(core.home, "data/attachments"))).toEqual([]);
    await page.context().close();
  });

  /** A picture of eight megabytes passes, a larger one is refused by the core as well. */
  it("has a limit that the core keeps", async () => {
    const add = (bytes: number) =>
      core.ask("attachment_add", { name: "x.png", data: Buffer.alloc(bytes).toString("base64") });
    await expect(add(8 * 1024 * 1024)).rejects.toThrow("no picture that can be shown");
    await expect(add(8 * 1024 * 1024 + 1)).rejects.toThrow("larger than 8 MB");
    await expect(core.ask("attachment_add", { name: "x", data: "!" })).rejects.toThrow("base64");
    await expect(
      core.ask("attachment_remove", { path: join(core.home, "work/june.csv") }),
    ).rejects.toThrow("no picture that was kept");
    expect(existsSync(join(core.home, "work/june.csv"))).toBe(true);
  });

  /** The folder cannot be left, and one that is not there is told. */
  it("stays in the folder", async () => {
    const find = (words: string, folder = "~/work") =>
      core.ask<{ paths: { path: string }[] }>("paths_find", { words, folder });
    expect((await find("../")).paths).toEqual([]);
    expect((await find("data")).paths).toEqual([]);
    await expect(find("x", "~/nowhere")).rejects.toThrow("cannot be used");
    const home = await find("june", "~");
    expect(home.paths.map(({ path }) => path)).toContain("work/june.csv");
    // What no run may touch is not offered, not even from above.
    expect((await find("openspace.db", "~")).paths).toEqual([]);
  });

  /** What is missing is named above the button and can be mended there; nothing is lost. */
  it("names what is missing", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Folder", exact: true }).click();
    await page.getByLabel("Path", { exact: true }).fill("~/nowhere");
    await page.getByRole("button", { name: "Use it" }).click();
    await field(page).fill("Count files");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/^The folder .*nowhere cannot be used\.$/)
      .waitFor();
    await page.getByRole("button", { name: "Leave the folder out" }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await field(page).inputValue()).toBe("Count files");
    expect(page.url()).toContain("#/tasks");
    await page.context().close();
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
