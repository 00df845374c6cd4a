import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { Core } from "./core";
import type { Turn } from "./model";
import { violations } from "./serve";

interface Question {
  id: string;
  run: string;
  nonce: string;
  state: string;
  note: string | null;
}

let core: Core;

beforeAll(async () => {
  core = await new Core().start();
  await core.past();
});
afterAll(() => core.end());

const open = async () => (await core.ask<{ approvals: Question[] }>("approvals_list")).approvals;

/** Starts a task whose first step needs an answer, and waits for the question. */
async function asks(asked: string | Turn): Promise<Question> {
  const call =
    typeof asked === "string"
      ? {
          tool: "run_command",
          arguments: { command: asked, network: asked.startsWith("curl") },
        }
      : asked;
  core.model.will(call, "Done.");
  core.task("Do something that has to be asked");
  await expect.poll(async () => (await open()).length).toBe(1);
  const [question] = await open();
  if (!question) throw new Error("nothing is asked");
  return question;
}

const card = (page: Page, question: Question) => page.locator(`[data-approval="${question.id}"]`);
const state = async (question: Question) =>
  (await core.ask<Question>("approval_get", { approval: question.id })).state;

describe("a question", () => {
  /** It is told at once, opened by F7 with the focus on its title, and Enter answers nothing. */
  it("is reached by F7 and answered only by a press that was meant", async () => {
    const page = await core.open("/insights");
    const question = await asks("curl https://example.org/a");
    await expect
      .poll(() => page.locator("[aria-live=assertive]").innerText())
      .toContain("permission");
    await page.keyboard.press("F7");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H2");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    expect(await state(question)).toBe("open");
    expect(await violations(page)).toEqual([]);
    await card(page, question).getByRole("button", { name: "Allow once" }).click();
    await card(page, question).getByText("Allowed once", { exact: true }).waitFor();
    expect(await state(question)).toBe("allowed_once");
    await page.context().close();
  });

  /** Two windows and a reload show the same question; answered in one, the other says who did. */
  it("is answered in every window at once and asked again in none", async () => {
    const question = await asks("curl https://example.org/b");
    const [one, two] = [await core.open("/approvals"), await core.open("/approvals")];
    await card(one, question).waitFor();
    await one.reload();
    await card(one, question).waitFor();
    await card(two, question).waitFor();
    await card(one, question).getByRole("button", { name: "Deny", exact: true }).click();
    await card(two, question).getByText("Denied", { exact: true }).waitFor();
    expect(await card(two, question).innerText()).toContain("in a browser");
    await two.reload();
    await two.getByText("Nothing waits for your approval.").waitFor();
    expect(await card(two, question).count()).toBe(0);
    // A second answer counts for nothing.
    const again = await core.ask<{ counted: boolean }>("approval_answer", {
      approval: question.id,
      nonce: question.nonce,
      choice: "once",
    });
    expect(again.counted).toBe(false);
    expect(await state(question)).toBe("denied");
    await Promise.all([one.context().close(), two.context().close()]);
  });

  /** A no with words reaches the model as text. */
  it("is denied with a reason that the model hears", async () => {
    const question = await asks("curl https://example.org/c");
    const page = await core.open(`/approvals/${question.id}`);
    await card(page, question).getByRole("button", { name: "Deny with a reason…" }).click();
    await page.getByLabel("Reason, which the run will read").fill("Use the copy in the folder");
    await page.getByRole("button", { name: "Deny and say so" }).click();
    await card(page, question).getByText("Denied", { exact: true }).waitFor();
    await expect.poll(() => core.model.heard.at(-1)).toContain("Use the copy in the folder");
    await page.context().close();
  });

  /** Ten thousand characters are all there, can be scrolled to and copied, and hidden ones are marked. */
  it("shows all of a long command", async () => {
    const command = `curl https://example.org/\u202Eevil ${"word ".repeat(2_000)}END`;
    const question = await asks(command);
    const page = await core.open(`/approvals/${question.id}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const text = card(page, question).locator("pre");
    await text.waitFor();
    expect((await text.textContent())?.replace("U+202E", "\u202E")).toBe(command);
    await text.evaluate((block) => (block.scrollTop = block.scrollHeight));
    expect(await text.evaluate((block) => block.scrollWidth <= block.clientWidth)).toBe(true);
    await card(page, question).getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command);
    await card(page, question).getByRole("button", { name: "Deny", exact: true }).click();
    await card(page, question).getByText("Denied", { exact: true }).waitFor();
    await page.context().close();
  });

  /** What is risky and final needs two presses, and one that bounced is one. */
  it("takes two presses where it is risky and final", async () => {
    const question = await asks("rm -rf ../elsewhere");
    const page = await core.open(`/approvals/${question.id}`);
    const box = card(page, question);
    await box.getByText("risk: high").waitFor();
    await box.getByText("cannot be undone", { exact: true }).waitFor();
    await box.getByRole("button", { name: "Allow once" }).dblclick();
    expect(await state(question)).toBe("open");
    expect(await box.getByRole("button", { name: "Always…" }).count()).toBe(0);
    await page.waitForTimeout(700);
    await box.getByRole("button", { name: "Press again to allow" }).click();
    await box.getByText("Allowed once", { exact: true }).waitFor();
    await page.context().close();
  });

  /** The command is changed with the keyboard alone; the core reads the risk of what was written,
   * runs exactly that, and tells the model. */
  it("is allowed with another command", async () => {
    const question = await asks("rm -rf ../elsewhere");
    const page = await core.open(`/approvals/${question.id}`);
    const box = card(page, question);
    await box.getByRole("button", { name: "Edit command…" }).focus();
    await page.keyboard.press("Enter");
    const field = box.getByLabel("The command to run instead");
    expect(await field.inputValue()).toBe("rm -rf ../elsewhere");
    expect(await field.evaluate((area) => area === document.activeElement)).toBe(true);
    const allow = box.getByRole("button", { name: "Allow the changed command" });
    await field.fill("cat ~/.ssh/id_ed25519");
    await box.getByText(/^Nobody can allow this: .*off limits/).waitFor();
    expect(await allow.isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent?.trim()))
      .toBe("Edit command…");
    await page.keyboard.press("Enter");
    await field.fill("rm -f draft.txt");
    await box.getByText("Delete draft.txt").waitFor();
    expect(await violations(page)).toEqual([]);
    await field.fill("printf '%s' 'as written' > kept.txt");
    await box.getByText("Changed like this, it needs no permission.").waitFor();
    await field.press("Tab");
    await expect.poll(() => allow.isEnabled()).toBe(true);
    await allow.focus();
    await page.keyboard.press("Enter");
    await box.getByText("Allowed once", { exact: true }).waitFor();
    expect(await box.getByLabel("Edited by you").innerText()).toContain("as written");
    const kept = join(core.home, "work", "kept.txt");
    await expect.poll(() => existsSync(kept) && readFileSync(kept, "utf8")).toBe("as written");
    await expect.poll(() => core.model.heard.at(-1)).toContain("The person changed the command");
    const { run } = await core.ask<Question>("approval_get", { approval: question.id });
    await page.evaluate((id) => (location.hash = `#/runs/${id}`), run);
    await page.getByText("edited by you", { exact: true }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  /** It outlives the server: killed and started again, the same question waits and can be answered. */
  it("is there after the server was killed", async () => {
    const question = await asks("curl https://example.org/d");
    await core.crash();
    await core.serve();
    const page = await core.open("/approvals");
    await card(page, question).waitFor();
    await card(page, question).getByRole("button", { name: "Allow once" }).click();
    await card(page, question).getByText("Allowed once", { exact: true }).waitFor();
    await page.context().close();
  });

  /** "Always" makes exactly the rule that was shown, which the settings list and remove. */
  it("makes a rule", async () => {
    const folder = join(core.home, "letters");
    mkdirSync(folder);
    writeFileSync(join(folder, "one.txt"), "one");
    const rule = `read:${folder}`;
    const question = await asks({
      tool: "read_file",
      arguments: { path: join(folder, "one.txt") },
    });
    const page = await core.open(`/approvals/${question.id}`);
    await card(page, question).getByRole("button", { name: "Always…" }).click();
    await page.getByText(rule, { exact: true }).waitFor();
    await page
      .getByText(/Of the last questions \(\d+\), it alone would have answered \d+/)
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Make the rule and allow" }).click();
    await card(page, question).getByText("Allowed once", { exact: true }).waitFor();
    const { rules } = await core.ask<{ rules: { rule: string }[] }>("rules_list");
    expect(rules.map((one) => one.rule)).toEqual([rule]);
    await page.evaluate(() => (location.hash = "#/settings/safety"));
    await page.getByRole("button", { name: `Remove ${rule}` }).click();
    await expect
      .poll(async () => (await core.ask<{ rules: unknown[] }>("rules_list")).rules.length)
      .toBe(0);
    await page.context().close();
  });
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
