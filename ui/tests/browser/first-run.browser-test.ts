import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Core } from "./core";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  // No model, no key, no screen: a machine where nothing was set up.
  core = await new Core({ OPENSPACE_LLM_API_KEY: "", OPENSPACE_LLM_API_BASE: "" }).start();
});
afterAll(() => core.end());

describe("the first run", () => {
  /** Every step can be passed over, and a restart of the core lands on the same one. */
  it("goes on at the same step after a restart", async () => {
    const titles = [
      /Hand over a desktop task/,
      /See it work first/,
      /Choose who thinks/,
      /What it can/,
    ];
    const steps = ["welcome", "demo", "model", "permissions", "safety"];
    const step = async () => {
      const kept = await core.ask<{ value: { step: string } | null }>("ui_state_get", {
        key: "welcome",
      });
      return kept.value?.step;
    };
    for (const [index, title] of titles.entries()) {
      const page = await core.open("/");
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await page.getByRole("button", { name: /^(Next|Skip this step)$/ }).click();
      await page
        .getByRole("heading", { level: 1, name: titles[index + 1] ?? /How much/ })
        .waitFor();
      // What is kept outlives the crash; what is on its way need not.
      await expect.poll(step).toBe(steps[index + 1]);
      await page.context().close();
      await core.crash();
      await core.serve();
    }
  });

  /** Without a key and without a screen the demo is over within a minute, its question included. */
  it("shows the demo within a minute", async () => {
    const page = await core.open("/welcome/demo");
    const began = Date.now();
    await page.getByText("no AI model is used", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Start the demo" }).click();
    await page.getByRole("button", { name: "Allow once" }).click({ timeout: 40_000 });
    // Deleting for good takes two presses, and two at once are one.
    await page.waitForTimeout(700);
    await page.getByRole("button", { name: "Press again to allow" }).click();
    await page.getByText("The demo has ended: done.").waitFor({ timeout: 40_000 });
    expect(Date.now() - began).toBeLessThan(60_000);
    await page.context().close();
  });

  /** The stop key belongs to the app: in a browser nothing can prove it, and what works instead is told. */
  it("does not pretend to hear the stop key", async () => {
    const page = await core.open("/welcome/safety");
    await page.getByText("this page cannot hear it", { exact: false }).waitFor();
    await page.getByText("These work instead:").waitFor();
    expect(await page.getByText("openspace stop --all", { exact: true }).count()).toBeGreaterThan(
      0,
    );
    await page.keyboard.press("Control+Alt+Period");
    expect(await page.getByText("It works.", { exact: false }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    // Nobody but the app may say that a key was heard.
    await expect(
      core.ask("ui_state_set", {
        key: "desktop.hotkeys.heard",
        value: [{ name: "stop", keys: "ctrl+alt+period", at: 1 }],
      }),
    ).rejects.toThrow("only the app");
    await page.evaluate(() => (location.hash = "#/settings/hotkeys"));
    await page.getByText("works while the app runs").first().waitFor();
    expect(await page.getByText("last heard", { exact: false }).count()).toBe(0);
    await page.context().close();
  });
});

describe("diagnostics", () => {
  /** Whoever reads Chinese reads what was found and what to do in Chinese. */
  it("speak the language of the settings", async () => {
    await core.ask("setting_set", { key: "language", value: "zh-Hans" });
    const page = await core.open("/diagnostics");
    const line = (check: string) => page.locator(`[data-check=${check}]`);
    await line("model").getByText("没有指定模型").waitFor();
    await line("model").getByText("在设置中指定", { exact: false }).waitFor();
    await line("screen").getByText("没有可用的屏幕").waitFor();
    await line("hotkeys").getByText("应用没有运行", { exact: false }).waitFor();
    await line("space")
      .getByText(/剩余 [\d.]+ GB/)
      .waitFor();
    await page
      .getByText(/\d 个问题|\d 项需留意/)
      .first()
      .waitFor();
    // What is left of English is names, and the system's own words, marked as such.
    const rest = await page.locator("main ul").evaluate((list) => {
      list.querySelectorAll("[lang=en], code, .took").forEach((element) => element.remove());
      // Commands are the same everywhere.
      const text = list.textContent.replace(/openspace [\w ./-]+|apt-get [\w -]+/g, "");
      return text.match(/[A-Za-z]{3,}( [A-Za-z]{3,}){3,}/g) ?? [];
    });
    expect(rest).toEqual([]);
    await page.context().close();
    await core.ask("setting_set", { key: "language", value: "en" });
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
