import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { Core } from "./core";
import { beside } from "./layout";
import { LOOKS, ROUTES } from "./routes";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
});
afterAll(() => core.end());

async function go(page: Page, hash: string) {
  await page.evaluate((hash) => (location.hash = hash), hash);
}

describe("the first run", () => {
  /** An empty profile begins there, a reload lands on the same step, and it is not shown again. */
  it("is shown once and goes on where it was left", async () => {
    const page = await core.open("/");
    await page.getByRole("heading", { level: 1, name: /Hand over a desktop task/ }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("heading", { level: 1, name: /See it work first/ }).waitFor();
    await page.getByRole("button", { name: "Skip this step" }).click();
    await page.getByRole("heading", { level: 1, name: "Choose who thinks" }).waitFor();
    const next = await core.open("/");
    await next.getByRole("heading", { level: 1, name: "Choose who thinks" }).waitFor();
    await next.keyboard.press("Alt+ArrowRight");
    await next.getByRole("heading", { level: 1, name: "What it can do here" }).waitFor();
    expect(await next.locator("[aria-current=step]").innerText()).toContain("Permissions");
    await next.getByRole("button", { name: "Later" }).click();
    await next.getByRole("heading", { level: 1, name: "What should be done?" }).waitFor();
    const last = await core.open("/");
    await last.getByRole("heading", { level: 1, name: "What should be done?" }).waitFor();
    await Promise.all([page, next, last].map((one) => one.context().close()));
  });

  /** The demo runs there without a key, asks once for real, and ends well. */
  it("shows the demo with its one real question", async () => {
    const page = await core.open("/welcome/demo");
    await page.getByText("no AI model is used", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Start the demo" }).click();
    await page.getByRole("button", { name: "Allow once" }).click({ timeout: 40_000 });
    // Deleting for good takes two presses, and two at once are one.
    await page.waitForTimeout(700);
    await page.getByRole("button", { name: "Press again to allow" }).click();
    await page.getByText("The demo has ended: done.").waitFor({ timeout: 40_000 });
    await page.context().close();
  });
});

describe("the settings", () => {
  /** A change shows at once in another window, is offered to be undone, and the language follows. */
  it("change in every window", async () => {
    const [one, two] = [await core.open("/settings/safety"), await core.open("/settings/safety")];
    await one.getByRole("radio", { name: "Ask every time" }).check();
    await expect
      .poll(() => two.getByRole("radio", { name: "Ask every time" }).isChecked())
      .toBe(true);
    await one.getByRole("button", { name: "Undo" }).click();
    await expect
      .poll(() => two.getByRole("radio", { name: "Ask for risky steps" }).isChecked())
      .toBe(true);
    await go(one, "#/settings/general");
    await one.getByRole("combobox", { name: "Language" }).selectOption("zh-Hans");
    await two.getByRole("heading", { level: 1, name: "设置" }).waitFor();
    await core.ask("setting_set", { key: "language", value: "en" });
    await two.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await Promise.all([one.context().close(), two.context().close()]);
  });

  /** What a variable decides cannot be changed and says which one; the search finds rows anywhere. */
  it("say why one is locked, and are found", async () => {
    const page = await core.open("/settings/models");
    await page.getByText("Set by the variable OPENSPACE_MODEL").waitFor();
    expect(await page.getByRole("textbox", { name: "Model", exact: true }).count()).toBe(0);
    expect(await page.getByRole("combobox", { name: "Model", exact: true }).isDisabled()).toBe(
      true,
    );
    await page.locator("h1").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("motion");
    await page.getByText("1 setting", { exact: true }).waitFor();
    await page.getByRole("group", { name: "Motion" }).waitFor();
    await page.context().close();
  });

  /** Without a keychain a key is kept under a passphrase, shown by its end only, and never in plain. */
  it("keep a key under a passphrase", async () => {
    const secret = "sk-ant-very-secret-key-4f2a";
    const page = await core.open("/settings/models");
    await page.getByRole("button", { name: "Set the key of anthropic" }).click();
    await page.getByLabel("Key of anthropic", { exact: true }).fill(secret);
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.getByText("No keychain can be used here.", { exact: false }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("Passphrase", { exact: true }).fill("correct horse battery");
    await page.getByLabel("The same again").fill("correct horse battery");
    await page.getByRole("button", { name: "Use this passphrase" }).click();
    await page.getByText("How they are protected", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Keep it" }).click();
    const row = page.locator("[data-provider=anthropic]");
    await row.getByText("4f2a", { exact: false }).waitFor();
    expect(await page.content()).not.toContain(secret);
    for (const file of files(core.home)) expect(file.text).not.toContain(secret);
    await row.getByRole("button", { name: "Remove the key of anthropic" }).click();
    const sure = page.getByRole("dialog", { name: "Remove the key of anthropic?" });
    await sure.getByText("4f2a", { exact: false }).waitFor();
    expect(await violations(page)).toEqual([]);
    await sure.getByRole("button", { name: "Remove the key of anthropic" }).click();
    await row.getByText("4f2a", { exact: false }).waitFor({ state: "detached" });
    await page.context().close();
  });
});

describe("diagnostics", () => {
  /** Every check comes in with its result and time; a report shows its files and is written. */
  it("run on opening, and write a report", async () => {
    const page = await core.open("/diagnostics");
    const { checks } = await core.ask<{ checks: string[] }>("checks_list");
    for (const check of checks) {
      await page
        .locator(`[data-check=${check}]`)
        .getByText(/\d ms|\d s/)
        .first()
        .waitFor();
    }
    await page
      .getByText(/problem|thing|works/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Create a report…" }).click();
    await page.getByRole("cell", { name: "settings.txt" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("Folder", { exact: true }).fill(join(core.home, "report"));
    await page.getByRole("button", { name: "Write the folder" }).click();
    await page.getByText(/\d+ files were written/).waitFor();
    expect(readdirSync(join(core.home, "report"))).toContain("checks.json");
    await page.context().close();
  });
});

describe("insights", () => {
  /** Nothing before three finished tasks; then numbers, marked as early, and the same as a table. */
  it("appear after three tasks", async () => {
    const page = await core.open("/insights");
    await page.getByText("Insights appear after three finished tasks").waitFor();
    for (const text of ["One", "Two", "Three"]) await core.finished(text);
    await page.getByText("3 of 3 runs").waitFor();
    expect(await page.getByText("early", { exact: true }).count()).toBeGreaterThan(0);
    expect(await page.locator(".tile", { hasText: "Tokens" }).first().innerText()).toContain(
      "3,600",
    );
    await page.getByRole("button", { name: "By model: Show as table" }).click();
    await page.getByRole("row", { name: /openai\/test 3 100 % 3,600/ }).waitFor();
    await page.context().close();
  });
});

describe.each(LOOKS)("in %s and %s", (theme, language) => {
  /** Every page is usable by everybody. */
  it("is accessible", async () => {
    await core.ask("setting_set", { key: "language", value: language });
    const page = await core.open("/approvals", { dark: theme === "dark" });
    for (const route of ROUTES) {
      await go(page, `#${route}`);
      await page.locator("main h1").first().waitFor();
      await page.locator(`html[lang=${language}]`).waitFor();
      expect(await violations(page), route).toEqual([]);
    }
    await page.context().close();
    await core.ask("setting_set", { key: "language", value: "en" });
  });
});

/** Twice as large in the smallest window: nothing lies beside the page, every control can be reached. */
it("loses no action at 200 %", async () => {
  const page = await core.open("/approvals", { width: 960, height: 640, zoom: 200 });
  for (const route of ROUTES) {
    await go(page, `#${route}`);
    await page.locator("main h1").first().waitFor();
    expect(await page.evaluate(beside), route).toEqual([]);
  }
  // The bar is too narrow for words there; its links are called by them all the same.
  const links = page.getByRole("navigation", { name: "Main" });
  for (const name of ["Tasks", "Insights", "Hosts", "Diagnostics", "Settings"]) {
    const label = links.getByRole("link", { name }).locator(".label");
    expect(await label.isVisible(), name).toBe(true);
  }
  await page.context().close();
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});

function files(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, "latin1") }));
}
