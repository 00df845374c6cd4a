import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import en from "../../messages/en.json";
import zh from "../../messages/zh-Hans.json";
import { Core, go } from "./core";
import { shell } from "./model";
import { LOOKS } from "./routes";
import { violations } from "./serve";

let core: Core;
let done: string;
let question: string;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
  core.model.will(shell("echo done"), "Done.");
  await core.finished("Something to export");
  done = await core.newest("Something to export");
  core.model.will({ tool: "read_file", arguments: { path: "/etc/hostname" } });
  await core.begin("Something to ask about", { preset: "ask-risky" });
  question = await core.question();
});
afterAll(() => core.end());

type Words = typeof en;

const WORDS: Record<string, Words> = { en, "zh-Hans": zh };

/** Presses the button of this name. */
const press = (key: keyof Words) => (page: Page, words: Words) =>
  page.getByRole("button", { name: words[key], exact: true }).click();

/** Does something by the palette. */
const command = (key: keyof Words) => async (page: Page, words: Words) => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: words["ui.palette.title"] }).fill(`>${words[key]}`);
  await page.getByRole("option", { name: words[key] }).waitFor();
  await page.keyboard.press("Enter");
};

type Way = (page: Page, words: Words) => Promise<unknown>;

/** Each with its title, the page it opens on, and how. */
const DIALOGS: [string, keyof Words, () => string, Way][] = [
  ["the palette", "ui.palette.title", () => "/tasks", (page) => page.keyboard.press("Control+k")],
  ["the help", "ui.help.title", () => "/approvals", (page) => page.keyboard.press("F1")],
  ["files", "ui.path.file", () => "/tasks", press("ui.composer.files")],
  ["the folder", "ui.path.folder", () => "/tasks", press("ui.composer.folder")],
  ["an export", "ui.export.title", () => `/runs/${done}`, command("ui.command.export")],
  ["a report", "ui.report.title", () => "/diagnostics", command("ui.command.report")],
];

describe.each(LOOKS)("62: in %s and %s", (theme, language) => {
  const words = WORDS[language] ?? en;
  let page: Page;

  beforeAll(async () => {
    await core.ask("setting_set", { key: "language", value: language });
    page = await core.open("/tasks", { dark: theme === "dark" });
    await page.locator(`html[lang=${language}]`).waitFor();
  });
  afterAll(() => page.context().close());

  /** Every layer that lies over a page is usable by everybody. */
  it.each(DIALOGS)("%s can be used by everybody", async (_name, title, hash, show) => {
    await go(page, hash());
    await show(page, words);
    const dialog = page.getByRole("dialog", { name: words[title] });
    await dialog.waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  /** And so is the rule that an answer can make, which opens within its card. */
  it("a rule can be made by everybody", async () => {
    await go(page, `/approvals/${question}`);
    await press("ui.approval.always")(page, words);
    await page.getByRole("form", { name: words["ui.rule.title"] }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", async () => {
  await core.ask("runs_stop_all");
  expect(core.errors).toEqual([]);
});
