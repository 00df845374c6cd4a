import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Core, go } from "./core";
import { LOOKS } from "./routes";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
});
afterAll(() => core.end());

const path = (name: string) => join(core.home, name);
const read = (name: string) => readFileSync(path(name), "utf8");

function write(name: string, text: string) {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

/** The copies of a file that were kept, oldest first. */
function copies(name: string): string[] {
  const stem = `${name.split("/").at(-1)}.openspace-`;
  // The ending would put the second copy of a second, `…-2.bak`, before the first.
  return readdirSync(dirname(path(name)))
    .filter((file) => file.startsWith(stem))
    .map((file) => file.slice(0, -".bak".length))
    .sort()
    .map((file) => readFileSync(join(dirname(path(name)), `${file}.bak`), "utf8"));
}

const row = (page: Page, host: string) => page.locator(`[data-host="${host}"]`);
const dialog = (page: Page) => page.getByRole("dialog");
const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole("button", { name });

/** Opens the page and what a host's row offers. */
async function offered(host: string, action: string | RegExp): Promise<Page> {
  const page = await core.open("/hosts");
  await button(row(page, host), action).click();
  await dialog(page).waitFor();
  return page;
}

const TOML = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # why\n';
const JSON_FILE = '{\n  "mcpServers": {\n    "other": { "command": "y" }\n  }\n}\n';
const OTHER = '{"mcpServers": {"openspace": {"command": "npx", "args": ["-y", "x"]}}}\n';

describe("a host is registered, tried and unregistered", () => {
  it.each([
    ["codex", ".codex/config.toml", TOML, "[mcp_servers.openspace]"],
    ["cursor", ".cursor/mcp.json", JSON_FILE, '"openspace": {'],
  ])("%s", async (host, file, before, line) => {
    write(file, before);
    const page = await offered(host, "Register…");
    const diff = dialog(page).getByRole("region", { name: "The change, line by line" });
    await diff.getByRole("row", { name: /added/ }).filter({ hasText: line }).waitFor();
    await dialog(page).getByText("1 other server stays as it is.", { exact: false }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(read(file)).toBe(before);
    await button(dialog(page), "Write change").click();
    await dialog(page).getByText("is registered.", { exact: false }).waitFor();
    expect(read(file)).toContain(line);
    expect(copies(file)).toEqual([before]);

    await button(dialog(page), "Test connection").click();
    const panel = page.locator(`[data-panel=${host}]`);
    await panel.getByText("can use OpenSpace.", { exact: false }).waitFor();
    await panel.getByText("execute_task, ", { exact: false }).waitFor();
    expect(await violations(page)).toEqual([]);
    await row(page, host).getByText("registered", { exact: true }).waitFor();

    await button(panel, "Unregister…").click();
    await diff
      .getByRole("row", { name: /removed/ })
      .filter({ hasText: line })
      .waitFor();
    await button(dialog(page), "Remove entry").click();
    await dialog(page).getByText("is not registered any more.", { exact: false }).waitFor();
    expect(read(file)).toBe(before);
    await button(dialog(page), "Done").click();
    await row(page, host).getByText("found, not registered").waitFor();
    await page.context().close();
  });
});

/** Nothing is written over what another program wrote; what would be written now is shown. */
it("shows a file anew that was changed meanwhile", async () => {
  const file = ".codex/config.toml";
  write(file, TOML);
  const page = await offered("codex", /^Register/);
  await button(dialog(page), "Write change").waitFor();
  const theirs = `${TOML}\n[mcp_servers.late]\ncommand = "z"\n`;
  write(file, theirs);
  const kept = copies(file);
  await button(dialog(page), "Write change").click();
  await dialog(page)
    .getByRole("alert")
    .getByText("nothing was written", { exact: false })
    .waitFor();
  await dialog(page).getByText("2 other servers stay as they are.", { exact: false }).waitFor();
  await dialog(page).getByRole("row").filter({ hasText: 'command = "z"' }).waitFor();
  expect(read(file)).toBe(theirs);
  expect(copies(file)).toEqual(kept);
  expect(await violations(page)).toEqual([]);
  await button(dialog(page), "Write change").click();
  await dialog(page).getByText("is registered.", { exact: false }).waitFor();
  expect(read(file).startsWith(theirs)).toBe(true);
  expect(copies(file).at(-1)).toBe(theirs);
  await page.context().close();
});

/** An entry of our name with other content is shown beside ours and never merged with it. */
it("asks what becomes of another entry", async () => {
  const file = ".gemini/settings.json";
  write(file, OTHER);
  const page = await offered("gemini", "Compare…");
  await dialog(page).getByText("The two are never merged", { exact: false }).waitFor();
  const theirs = dialog(page).getByRole("region", { name: "The entry in the file" });
  expect(await theirs.innerText()).toContain('"npx"');
  const ours = dialog(page).getByRole("region", { name: "The entry of OpenSpace" });
  expect(await ours.innerText()).toContain('"mcp"');
  expect(await button(dialog(page), "Go on").isDisabled()).toBe(true);
  expect(await violations(page)).toEqual([]);
  await dialog(page).getByRole("radio", { name: "Keep it" }).check();
  await button(dialog(page), "Go on").click();
  await dialog(page).waitFor({ state: "detached" });
  expect(read(file)).toBe(OTHER);

  await button(row(page, "gemini"), "Compare…").click();
  await dialog(page).getByRole("radio", { name: "Put ours in its place" }).check();
  await button(dialog(page), "Show the change").click();
  await dialog(page).getByText("replaced as a whole", { exact: false }).waitFor();
  expect(read(file)).toBe(OTHER);
  await button(dialog(page), "Write change").click();
  await dialog(page).getByText("The entry in Gemini CLI was replaced.").waitFor();
  expect(read(file)).not.toContain("npx");
  expect(copies(file)).toEqual([OTHER]);

  await button(dialog(page), "Undo the last change…").click();
  await button(dialog(page), "Bring it back").click();
  await dialog(page).getByText("The file is what it was before.").waitFor();
  expect(read(file)).toBe(OTHER);
  await button(dialog(page), "Done").click();

  await button(row(page, "gemini"), "Compare…").click();
  await dialog(page).getByRole("radio", { name: "Remove it" }).check();
  await button(dialog(page), "Show the change").click();
  await button(dialog(page), "Remove entry").click();
  await dialog(page).getByText("is not registered any more.", { exact: false }).waitFor();
  expect(JSON.parse(read(file))).toEqual({ mcpServers: {} });
  await page.context().close();
});

describe("a change", () => {
  /** While it is the last one it can be taken back from the list, whatever page wrote it. */
  it("can be undone until somebody else changes the file", async () => {
    const file = ".codeium/windsurf/mcp_config.json";
    write(file, JSON_FILE);
    const page = await offered("windsurf", "Register…");
    await button(dialog(page), "Write change").click();
    await button(dialog(page), "Done").click();
    const written = read(file);
    const other = await core.open("/hosts");
    await button(row(other, "windsurf"), "Undo the last change…").click();
    await button(dialog(other), "Bring it back").click();
    await button(dialog(other), "Done").click();
    expect(read(file)).toBe(JSON_FILE);
    expect(copies(file)).toEqual([JSON_FILE, written]);
    // The first page hears of it by itself.
    await row(page, "windsurf").getByText("found, not registered").waitFor();

    await button(row(page, "windsurf"), "Register…").click();
    await button(dialog(page), "Write change").click();
    await button(dialog(page), "Done").click();
    await button(row(page, "windsurf"), "Undo the last change…").waitFor();
    write(file, read(file).replace('"y"', '"z"'));
    await button(row(page, "windsurf"), "Undo the last change…").waitFor({ state: "detached" });
    await button(row(page, "windsurf"), "Unregister…").waitFor();
    await Promise.all([page.context().close(), other.context().close()]);
  });

  /** What cannot be written is left alone, and the entry is there to be pasted. */
  it.each([
    ["kiro", ".kiro/settings/mcp.json", "{ oops", "Do it by hand…", "cannot be read"],
    ["qwen", ".qwen/settings.json", JSON_FILE, "Register…", "is write-protected"],
  ])("of %s that is not possible is left to the person", async (host, file, text, action, why) => {
    write(file, text);
    if (host === "qwen") chmodSync(path(file), 0o444);
    const page = await offered(host, action);
    await dialog(page).getByRole("alert").getByText(why, { exact: false }).waitFor();
    const snippet = dialog(page).getByRole("region", { name: "The entry, to paste by hand" });
    expect(await snippet.innerText()).toContain('"openspace"');
    expect(await button(dialog(page), "Write change").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(read(file)).toBe(text);
    expect(copies(file)).toEqual([]);
    await page.context().close();
  });
});

/** A project has a file of its own, which is a row of its own from then on. */
it("registers for one project", async () => {
  write(".codex/config.toml", TOML);
  const page = await offered("codex", /^Register/);
  await dialog(page).getByRole("radio", { name: "For one project" }).click();
  expect(await button(dialog(page), "Write change").count()).toBe(0);
  await dialog(page).getByLabel("Folder of the project").fill("~/work");
  await button(dialog(page), "Show the change").click();
  await dialog(page).getByText("The file is new.").waitFor();
  await button(dialog(page), "Write change").click();
  await dialog(page).getByText("Codex is registered.").waitFor();
  await button(dialog(page), "Test connection").click();
  const file = path("work/.codex/config.toml");
  expect(existsSync(file)).toBe(true);
  expect(read(".codex/config.toml")).toBe(TOML);
  const panel = page.locator("[data-panel=codex]");
  await panel.getByText("can use OpenSpace.", { exact: false }).waitFor();
  await row(page, `codex ${file}`).getByText("registered", { exact: true }).waitFor();
  await page.context().close();
});

/** An entry whose program went, or that somebody took out, is put right with one change. */
it("puts right what others broke", async () => {
  const gone = JSON.stringify({
    mcpServers: {
      openspace: {
        command: "/gone/bin/openspace",
        args: ["mcp"],
        env: { OPENSPACE_HOME: path("data") },
      },
    },
  });
  const file = ".copilot/mcp-config.json";
  write(file, gone);
  const page = await offered("copilot", "Repair…");
  await dialog(page)
    .getByText("Only the program in our entry is corrected.", { exact: false })
    .waitFor();
  await button(dialog(page), "Write change").click();
  await dialog(page).getByText("starts the right program again", { exact: false }).waitFor();
  await button(dialog(page), "Done").click();
  await row(page, "copilot").getByText("registered", { exact: true }).waitFor();
  write(file, '{"mcpServers": {}}');
  await row(page, "copilot").getByText("somebody removed the entry", { exact: false }).waitFor();
  await button(row(page, "copilot"), "Leave it out").click();
  await button(dialog(page), "Leave it out").click();
  await dialog(page).getByText("will not be asked about again", { exact: false }).waitFor();
  await button(dialog(page), "Done").click();
  await row(page, "copilot").getByText("found, not registered").waitFor();
  await page.context().close();
});

/** From the list to a written entry and back without the mouse. */
it("works with the keyboard alone", async () => {
  write(".cursor/mcp.json", JSON_FILE);
  const page = await core.open("/hosts");
  await row(page, "cursor").waitFor();
  await row(page, "cursor").getByRole("link").focus();
  await page.keyboard.press("r");
  await button(dialog(page), "Write change").focus();
  await page.keyboard.press("Enter");
  await button(dialog(page), "Done").focus();
  await page.keyboard.press("Enter");
  await dialog(page).waitFor({ state: "detached" });
  const panel = page.locator("[data-panel=cursor]");
  // The row is drawn anew after the change, and a key before that goes nowhere.
  await expect
    .poll(async () => {
      if ((await panel.count()) === 0) {
        await row(page, "cursor").getByRole("link").focus();
        await page.keyboard.press("t");
      }
      return panel.count();
    })
    .toBe(1);
  // The program is started as its host would, which takes a while on a busy machine.
  await panel.getByText("can use OpenSpace.", { exact: false }).waitFor({ timeout: 45_000 });
  await expect
    .poll(() => panel.locator("h2").evaluate((it) => it === document.activeElement))
    .toBe(true);
  await page.keyboard.press("x");
  await button(dialog(page), "Remove entry").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  expect(await panel.count()).toBe(1);
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await expect
    .poll(() =>
      row(page, "cursor")
        .getByRole("link")
        .evaluate((it) => it === document.activeElement),
    )
    .toBe(true);
  await page.keyboard.press("j");
  expect(
    await row(page, "cursor")
      .getByRole("link")
      .evaluate((it) => it === document.activeElement),
  ).toBe(false);
  await page.context().close();
});

describe.each(LOOKS)("in %s and %s", (theme, language) => {
  /** The list, the details and every kind of dialog are usable by everybody. */
  it("is accessible", async () => {
    await core.ask("setting_set", { key: "language", value: language });
    const page = await core.open("/hosts", { dark: theme === "dark" });
    await page.locator(`html[lang=${language}]`).waitFor();
    for (const host of ["codex", "cursor", "gemini", "kiro"]) {
      await go(page, `/hosts/${host}`);
      await page.locator(`[data-panel=${host}] dl`).waitFor();
      expect(await violations(page), host).toEqual([]);
      await row(page, host).getByRole("button").first().click();
      await dialog(page).locator(".change").waitFor();
      await page.waitForTimeout(200);
      expect(await violations(page), `${host}: dialog`).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog(page).waitFor({ state: "detached" });
    }
    await page.context().close();
    await core.ask("setting_set", { key: "language", value: "en" });
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
