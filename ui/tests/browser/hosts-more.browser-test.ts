import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Core, go } from "./core";
import { LOOKS } from "./routes";
import { violations } from "./serve";

/** Programs that the machine has besides its own. */
const programs = mkdtempSync(join(tmpdir(), "openspace-ui-bin-"));
let core: Core;

beforeAll(async () => {
  const PATH = `${programs}:${process.env.PATH ?? ""}`;
  core = await new Core({ OPENSPACE_MODEL: "openai/test", PATH }).start();
  await core.past();
});
afterAll(async () => {
  await core.end();
  rmSync(programs, { recursive: true, force: true });
});

const path = (name: string) => join(core.home, name);
const read = (name: string) => readFileSync(path(name), "utf8");

function write(name: string, text: string) {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

const row = (page: Page, host: string) => page.locator(`[data-host="${host}"]`);
const panel = (page: Page, host: string) => page.locator(`[data-panel=${host}]`);
const dialog = (page: Page) => page.getByRole("dialog");
const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole("button", { name });

/** A picture of a state, for whoever wants to look at it. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.OPENSPACE_LOOK_AT;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

const TOML = '# mine\nmodel = "x"\n';
const YAML = "# mine\ntools:\n  servers: {}\n";

/** Registered already, without any page. */
async function registered(host: string, file: string, text: string): Promise<void> {
  write(file, text);
  const request = { place: { host }, change: "register" };
  const { fingerprint } = await core.ask<{ fingerprint: string }>("host_preview", request);
  await core.ask("host_change", { request, fingerprint });
}

/** After a test the page waits for the host, and hears of it by itself; others are told apart. */
it("a host is waited for until it connects", async () => {
  await registered("codex", ".codex/config.toml", TOML);
  const page = await core.open("/hosts/codex");
  await panel(page, "codex").getByText("not yet").waitFor();
  await button(panel(page, "codex"), "Test connection").click();
  await panel(page, "codex").getByText("Waiting for Codex to connect…", { exact: false }).waitFor();
  expect(await violations(page)).toEqual([]);
  await core.connect("codex", "some-client");
  await panel(page, "codex").getByText("Codex is connected.").waitFor();
  await row(page, "codex").getByText("connected a moment ago").waitFor();
  await panel(page, "codex")
    .getByText("It calls itself some-client 1.2.3", { exact: false })
    .waitFor();
  await core.connect("", "my <b>own</b> tool");
  const others = page.getByRole("list", { name: "Other programs that connected" });
  await others.getByText("my bown/b tool 1.2.3").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.context().close();
});

/** Both skills come with a registration that asks for them, and Undo takes everything back. */
it("skills are installed, told and taken back", async () => {
  const file = ".claude.json";
  write(file, "{}\n");
  const page = await core.open("/hosts");
  await button(row(page, "claude-code"), "Register…").click();
  await dialog(page).getByRole("switch", { name: "Also install two skills" }).click();
  await dialog(page).getByText("The skill delegate-task is put into", { exact: false }).click();
  const lines = dialog(page).getByRole("region", { name: "The skill delegate-task, line by line" });
  await lines.getByText("name: delegate-task").waitFor();
  expect(await violations(page)).toEqual([]);
  expect(existsSync(path(".claude/skills"))).toBe(false);
  await button(dialog(page), "Write change").click();
  await dialog(page)
    .getByText("The skill skill-discovery was put into", { exact: false })
    .waitFor();
  const skill = ".claude/skills/delegate-task/SKILL.md";
  expect(read(skill)).toContain("name: delegate-task");
  await button(dialog(page), "Undo the last change…").click();
  await dialog(page).getByText("The skill delegate-task is removed", { exact: false }).waitFor();
  await button(dialog(page), "Bring it back").click();
  await dialog(page).getByText("The file is what it was before.").waitFor();
  expect(read(file)).toBe("{}\n");
  expect(existsSync(path(".claude/skills"))).toBe(false);
  await button(dialog(page), "Done").click();

  // By themselves, from the details.
  await go(page, "/hosts/claude-code");
  await button(panel(page, "claude-code"), "Install skills…").click();
  await button(dialog(page), "Write change").click();
  await button(dialog(page), "Done").click();
  await row(page, "claude-code").getByText("with both skills").waitFor();
  expect(read(file)).toBe("{}\n");
  await button(panel(page, "claude-code"), "Remove skills…").click();
  await button(dialog(page), "Remove skills").click();
  await button(dialog(page), "Done").click();
  await button(panel(page, "claude-code"), "Install skills…").waitFor();
  expect(existsSync(path(".claude/skills"))).toBe(false);
  await page.context().close();
});

/** An agent that is in no list is added, registered and forgotten with the keyboard alone. */
it("an agent of one's own is added and forgotten", async () => {
  write(".mine/agent.yaml", YAML);
  const page = await core.open("/hosts");
  await button(page, "Add an agent…").focus();
  await page.keyboard.press("Enter");
  await dialog(page).getByLabel("Name").focus();
  await page.keyboard.type("My Agent");
  await page.keyboard.press("Tab");
  await page.keyboard.type("agent.yaml");
  await page.keyboard.press("Tab");
  expect(await dialog(page).getByRole("combobox", { name: "Format" }).inputValue()).toBe("yaml");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("tools.servers");
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await dialog(page)
    .getByRole("alert")
    .getByText("named by its whole path", { exact: false })
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog(page).getByLabel("Its configuration file").fill("~/.mine/agent.yaml");
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "Register with My Agent" });
  await sheet.getByRole("row", { name: /added/ }).first().waitFor();
  expect(read(".mine/agent.yaml")).toBe(YAML);
  await button(sheet, "Write change").focus();
  await page.keyboard.press("Enter");
  await button(dialog(page), "Test connection").click();
  await panel(page, "custom-my-agent").getByText("can use OpenSpace.", { exact: false }).waitFor();
  expect(read(".mine/agent.yaml")).toContain("openspace:");
  expect(await button(panel(page, "custom-my-agent"), "Forget this agent").count()).toBe(0);
  await button(panel(page, "custom-my-agent"), "Unregister…").click();
  await button(dialog(page), "Remove entry").click();
  await button(dialog(page), "Done").click();
  expect(read(".mine/agent.yaml")).toBe(YAML);
  await button(panel(page, "custom-my-agent"), "Forget this agent").click();
  await row(page, "custom-my-agent").waitFor({ state: "detached" });
  expect(read(".mine/agent.yaml")).toBe(YAML);
  await page.context().close();
});

/** A host that thinks for long about its file is given up, and its file is as it was. */
it("a host that thinks too long is given up", async () => {
  const program = join(programs, "openclaw");
  writeFileSync(program, "#!/bin/sh\nsleep 300\n");
  chmodSync(program, 0o755);
  const file = ".openclaw/openclaw.json";
  write(file, "{ gateway: { port: 1 } }\n");
  const page = await core.open("/hosts");
  await button(row(page, "openclaw"), "Register…").click();
  await button(dialog(page), "Write change").click();
  await dialog(page).getByText("openclaw is being asked", { exact: false }).waitFor();
  await button(dialog(page), "Stop waiting").waitFor();
  expect(await violations(page)).toEqual([]);
  await picture(page, "waiting");
  await button(dialog(page), "Stop waiting").click();
  await dialog(page).getByText("was not waited for", { exact: false }).waitFor();
  expect(read(file)).toBe("{ gateway: { port: 1 } }\n");
  expect(await violations(page)).toEqual([]);
  rmSync(program);
  await page.context().close();
});

/** A warning of Diagnostics, and the palette, lead to the change itself. */
it("other pages lead to a host's change", async () => {
  await registered("cursor", ".cursor/mcp.json", "{}\n");
  write(".cursor/mcp.json", "{}\n");
  const page = await core.open("/diagnostics");
  const line = page.locator("[data-check=hosts]");
  await line.getByText("Cursor: somebody removed the entry").waitFor();
  expect(await violations(page)).toEqual([]);
  await line.getByRole("link", { name: "Put it right…" }).click();
  await page.getByRole("dialog", { name: "Register with Cursor" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  expect(new URL(page.url()).hash).toBe("#/hosts/cursor");
  await go(page, "/tasks");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands and places" }).fill("cursor");
  await page.getByRole("option", { name: "Cursor: register…" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("combobox", { name: "Commands and places" }).fill("cursor register");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Register with Cursor" }).waitFor();
  await page.context().close();
});

describe.each(LOOKS)("in %s and %s", (theme, language) => {
  /** What is new is usable by everybody. */
  it("is accessible", async () => {
    await core.ask("setting_set", { key: "language", value: language });
    const page = await core.open("/hosts/codex", { dark: theme === "dark" });
    await page.locator(`html[lang=${language}]`).waitFor();
    const look = `${theme}-${language}`;
    await panel(page, "codex").locator("dl").waitFor();
    await panel(page, "codex")
      .locator("[role=group]")
      .evaluate((it) => it.scrollTo(0, 400));
    expect(await violations(page), "details").toEqual([]);
    await picture(page, `${look}-details`);
    await page.locator("main header button").first().click();
    await dialog(page).locator("form").waitFor();
    await page.waitForTimeout(200);
    expect(await violations(page), "adding").toEqual([]);
    await picture(page, `${look}-adding`);
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await go(page, "/hosts");
    await row(page, "claude-code").getByRole("button").first().click();
    await dialog(page).getByRole("switch").last().click();
    await dialog(page).locator("details summary").filter({ hasText: "delegate-task" }).click();
    await page.waitForTimeout(200);
    expect(await violations(page), "skills").toEqual([]);
    await picture(page, `${look}-skills`);
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.locator("main").evaluate((it) => it.querySelector(".list")?.scrollTo(0, 10_000));
    await picture(page, `${look}-list`);
    await go(page, "/diagnostics");
    await page.locator("[data-check=hosts] .warning").first().waitFor();
    await page.locator("[data-check=hosts]").scrollIntoViewIfNeeded();
    await picture(page, `${look}-diagnostics`);
    await page.context().close();
    await core.ask("setting_set", { key: "language", value: "en" });
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
