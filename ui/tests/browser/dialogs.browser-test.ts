import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import en from "../../messages/en.json";
import zh from "../../messages/zh-Hans.json";
import { Core } from "./core";
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
  await page.keyboard.press("Enter");
};

const DIALOGS: [string, () => string, (page: Page, words: Words) => Promise<unknown>][] = [
  ["the palette", () => "/tasks", (page) => page.keyboard.press("Control+k")],
  ["the help", () => "/approvals", (page) => page.keyboard.press("F1")],
  ["files", () => "/tasks", press("ui.composer.files")],
  ["the folder", () => "/tasks", press("ui.composer.folder")],
  ["an export", () => `/runs/${done}`, command("ui.command.export")],
  ["a report", () => "/diagnostics", command("ui.command.report")],
];

describe.each(LOOKS)("62: in %s and %s", (theme, language) => {
  const words = WORDS[language] ?? en;

  async function open(hash: string): Promise<Page> {
    await core.ask("setting_set", { key: "language", value: language });
    const page = await core.open(hash, { dark: theme === "dark" });
    await page.locator(`html[lang=${language}]`).waitFor();
    await page.locator("main h1").first().waitFor();
    return page;
  }

  /** Every layer that lies over a page is usable by everybody. */
  it.each(DIALOGS)("%s can be used by everybody", async (_name, hash, show) => {
    const page = await open(hash());
    await show(page, words);
    await page.getByRole("dialog").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  /** And so is the rule that an answer can make, which opens within its card. */
  it("a rule can be made by everybody", async () => {
    const page = await open(`/approvals/${question}`);
    await press("ui.approval.always")(page, words);
    await page.getByRole("form", { name: words["ui.rule.title"] }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", async () => {
  await core.ask("runs_stop_all");
  expect(core.errors).toEqual([]);
});
