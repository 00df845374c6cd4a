import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Core, go } from "./core";
import { shell } from "./model";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
});
afterAll(() => core.end());

/** What has the focus, `unseen` before it where nothing shows that it has. */
async function focus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement)) return "nothing";
    const outlined = (style: CSSStyleDeclaration) =>
      style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2;
    // The ring may be that of the whole row, or of the box that a field stands in.
    const around = element.closest(".line, .search, label, form");
    const seen =
      outlined(getComputedStyle(element)) ||
      outlined(getComputedStyle(element, "::after")) ||
      (around !== null &&
        (outlined(getComputedStyle(around)) || getComputedStyle(around).boxShadow !== "none")) ||
      /^H[1-6]$/.test(element.tagName);
    const labelled = element.getAttribute("aria-label") ?? element.innerText.trim();
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : undefined;
    return `${seen ? "" : "unseen "}${labelled || (label ?? "").trim()}`;
  });
}

/** Presses Tab until something of this name has the focus; whatever has it meanwhile shows it. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await page.keyboard.press("Tab");
    const found = await focus(page);
    expect(found).not.toMatch(/^unseen/);
    if (name.test(found)) return;
  }
  throw new Error(`${name} is not reached`);
}

const main = (page: Page) => page.getByRole("main");
const says = (page: Page, text: string) =>
  main(page).getByText(text, { exact: true }).first().waitFor();

describe("63: with the keyboard alone", () => {
  /** A task is written, started, watched, asked about, answered, followed up and stopped. */
  it("a task goes from beginning to end", async () => {
    const page = await core.open("/tasks");
    await page.getByText("Connected", { exact: true }).waitFor();
    core.model.will(shell("curl https://example.org/", true), "That was all.");
    await page.keyboard.press("n");
    expect(await focus(page)).toBe("What is to be done");
    await page.keyboard.type("Fetch the page");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Fetch the page" }).waitFor();
    await page.locator("[data-approval]").waitFor();
    await page.keyboard.press("F7");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H2");
    await page.waitForTimeout(700);
    await tabTo(page, /^Allow once/);
    await page.keyboard.press("Enter");
    await says(page, "done");

    core.model.will(shell("sleep 600"));
    await page.locator("h1").focus();
    await page.keyboard.press("m");
    expect(await focus(page)).toMatch(/^Ask for the next thing/);
    await page.keyboard.type("Now wait");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Now wait" }).waitFor();
    await says(page, "running");
    await page.keyboard.press("F8");
    expect(await focus(page)).toMatch(/^Stop/);
    await page.keyboard.press("Enter");
    await says(page, "stopped");
    await page.context().close();
  });

  /** A question is denied with words, on the page of all questions. */
  it("a question is denied", async () => {
    core.model.will(shell("curl https://example.org/", true), "Then not.");
    const run = await core.begin("Ask first", { preset: "ask-risky" });
    const page = await core.open("/approvals");
    await page.locator("[data-approval]").waitFor();
    await page.keyboard.press("F7");
    await tabTo(page, /^Deny with a reason/);
    await page.keyboard.press("Enter");
    await expect.poll(() => focus(page)).toMatch(/^Reason/);
    await page.keyboard.type("Not today");
    await tabTo(page, /^Deny and say so/);
    await page.keyboard.press("Enter");
    await says(page, "Denied");
    await expect.poll(() => core.model.heard.at(-1)).toContain("Not today");
    await expect
      .poll(async () => {
        const { run: now } = await core.ask<{ run: { status: string } }>("run_detail", { run });
        return now.status;
      })
      .toBe("done");
    await page.context().close();
  });

  /** The list is gone through with letters and arrows, a run is opened, and its steps are walked. */
  it("runs are found and looked through", async () => {
    core.model.will(shell("echo one"), shell("echo two"), "Said.");
    await core.finished("Say two words");
    const page = await core.open("/tasks");
    await page.getByRole("link", { name: /Say two words/ }).waitFor();
    await page.locator("h1").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("two words");
    await expect.poll(() => page.locator("[data-run-index]").count()).toBe(1);
    await tabTo(page, /Say two words/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Say two words" }).waitFor();
    await page.locator("h1").focus();
    // A key before the steps are there goes nowhere.
    const first = page.getByRole("heading", { name: "Step 1", exact: true });
    await expect
      .poll(async () => {
        await page.keyboard.press("Shift+ArrowLeft");
        return first.count();
      })
      .toBe(1);
    await page.keyboard.press("i");
    await page.getByRole("heading", { name: "Step 1", exact: true }).waitFor({ state: "detached" });
    await page.context().close();
  });

  /** Numbers become tables, and a setting is found and changed. */
  it("insights and settings are used", async () => {
    for (const text of ["One", "Two", "Three"]) await core.finished(text);
    const page = await core.open("/insights");
    await page.getByRole("button", { name: "By model: Show as table" }).waitFor();
    await page.locator("h1").focus();
    await tabTo(page, /^By model: Show as table/);
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /openai\/test/ }).waitFor();

    await page.keyboard.press("Control+,");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("How much");
    const chosen = () => page.getByRole("radio", { name: "Ask every time" }).isChecked();
    await page.getByRole("radio", { name: "Ask for risky steps" }).waitFor();
    await tabTo(page, /^Ask for risky steps/);
    await page.keyboard.press("ArrowUp");
    await expect.poll(chosen).toBe(true);
    await page.keyboard.press("ArrowDown");
    await expect.poll(chosen).toBe(false);
    await page.context().close();
  });

  /** A layer takes the focus and gives it back to what opened it; Escape closes one layer, never a run. */
  it("layers give the focus back", async () => {
    const page = await core.open("/tasks");
    await page.getByText("Connected", { exact: true }).waitFor();
    const opener = page.getByRole("button", { name: "Folder", exact: true });
    await opener.focus();
    for (const open of ["Control+k", "F1", "Enter"]) {
      await page.keyboard.press(open);
      await page.getByRole("dialog").waitFor();
      expect(await violations(page), open).toEqual([]);
      expect(
        await page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null),
      ).toBe(true);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const back = () => opener.evaluate((button) => button === document.activeElement);
      await expect.poll(back, { message: open }).toBe(true);
    }
    await page.context().close();
  });

  /** F6 goes round the regions of a run and of the window. */
  it("regions are reached", async () => {
    await core.finished("Something short");
    const page = await core.open();
    await go(page, `/runs/${await core.newest("Something short")}`);
    await page.getByRole("region", { name: "How it came out" }).waitFor();
    const reached = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      await page.keyboard.press("F6");
      const name = await page.evaluate(() => {
        const element = document.activeElement;
        return `${element?.tagName.toLowerCase()} ${element?.getAttribute("aria-label") ?? ""}`;
      });
      reached.add(name.trim());
    }
    for (const name of ["main", "footer State of the program", "section Steps"])
      expect([...reached]).toContain(name);
    await page.context().close();
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
