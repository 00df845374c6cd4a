import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Core } from "./core";
import { shell, type Turn } from "./model";

interface Question {
  id: string;
  run: string;
  nonce: string;
  state: string;
  askedAt: number;
}

const WEEK = 7 * 24 * 60 * 60 * 1_000;
let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
});
afterAll(() => core.end());

const question = (id: string) => core.ask<Question>("approval_get", { approval: id });
const card = (page: Page, id: string) => page.locator(`[data-approval="${id}"]`);

/** Starts a run that asks before its first step; the id of the question. */
async function asks(call: Turn, more: object = {}): Promise<string> {
  core.model.will(call, "Done.");
  await core.begin("Do something that has to be asked", { preset: "ask-risky", ...more });
  return core.question();
}

/** Says no, and waits until the run has heard it. */
async function deny(id: string): Promise<void> {
  const { nonce, run } = await question(id);
  await core.ask("approval_answer", { approval: id, nonce });
  await core.ended(run);
  expect((await question(id)).state).toBe("denied");
}

/**
 * An answer that is given elsewhere shows in the window within 200 ms: on the card, at the bell and in
 * the list. The pill asks for it by this very call.
 */
it("21: an answer from elsewhere shows at once", async () => {
  const page = await core.open("/approvals");
  const delays: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const id = await asks(shell(`curl https://example.org/${round}`, true));
    await card(page, id).waitFor();
    await page.getByRole("button", { name: "Approvals: 1 waits" }).waitFor();
    const { nonce } = await question(id);
    const shown = page.evaluate(
      (id) =>
        new Promise<number>((resolve) => {
          const look = () => {
            const card = document.querySelector(`[data-approval="${id}"]`);
            const answered = card === null || !card.querySelector("[data-answer]");
            const bell = document.querySelector('[aria-label^="Approvals: 1"]');
            if (!answered || bell) return;
            observer.disconnect();
            resolve(Date.now());
          };
          const observer = new MutationObserver(look);
          observer.observe(document.body, {
            attributes: true,
            childList: true,
            characterData: true,
            subtree: true,
          });
        }),
      id,
    );
    const asked = Date.now();
    await core.ask("approval_answer", { approval: id, nonce });
    delays.push((await shown) - asked);
    await card(page, id).getByText("Denied", { exact: true }).waitFor();
    await core.ended((await question(id)).run);
  }
  // The best of three: the others tell how busy the machine is.
  expect(Math.min(...delays)).toBeLessThanOrEqual(200);
  await page.context().close();
});

/** On the page of its run an answer makes room again; after a key it keeps the focus, and stays. */
it("makes room for the run unless somebody is at it", async () => {
  for (const by of ["mouse", "key"]) {
    const id = await asks(shell(`curl https://example.org/${by}`, true));
    const page = await core.open(`/runs/${(await question(id)).run}`);
    const deny = card(page, id).getByRole("button", { name: "Deny", exact: true });
    const titled = () =>
      page.evaluate(
        (id) => document.activeElement === document.querySelector(`[data-approval="${id}"] h2`),
        id,
      );
    await deny.waitFor();
    if (by === "mouse") {
      await deny.click();
      await card(page, id).getByText("Denied", { exact: true }).waitFor();
      await card(page, id).waitFor({ state: "detached" });
    } else {
      await deny.focus();
      await page.keyboard.press("Enter");
      await card(page, id).getByText("Denied", { exact: true }).waitFor();
      await expect.poll(titled).toBe(true);
      await page.waitForTimeout(7_000);
      expect(await titled()).toBe(true);
    }
    await core.ended((await question(id)).run);
    await page.context().close();
  }
});

/** A rule answers its own kind of step: a read of that folder, but no write there and no other folder. */
it("18: always means just what was shown", async () => {
  const [folder, other] = [join(core.home, "letters"), join(core.home, "papers")];
  for (const one of [folder, other]) {
    mkdirSync(one);
    writeFileSync(join(one, "one.txt"), "one");
  }
  const read = (folder: string) => ({
    tool: "read_file",
    arguments: { path: join(folder, "one.txt") },
  });
  const id = await asks(read(folder));
  const page = await core.open(`/approvals/${id}`);
  await card(page, id).getByRole("button", { name: "Always…" }).click();
  await page.getByText(`read:${folder}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Make the rule and allow" }).click();
  await card(page, id).getByText("Allowed once", { exact: true }).waitFor();
  await core.ended((await question(id)).run);
  const { rules } = await core.ask<{ rules: { rule: string }[] }>("rules_list");
  expect(rules.map(({ rule }) => rule)).toEqual([`read:${folder}`]);

  core.model.will(read(folder), "Read without a question.");
  await core.ended(await core.begin("Read it again", { preset: "ask-risky" }));
  expect(core.model.heard.at(-1)).toContain("one.txt");
  const { approvals } = await core.ask<{ approvals: Question[] }>("approvals_list");
  expect(approvals).toEqual([]);

  const path = join(folder, "two.txt");
  await deny(await asks({ tool: "write_file", arguments: { path, content: "two" } }));
  await deny(await asks(read(other)));

  await page.evaluate(() => (location.hash = "#/settings/safety"));
  await page.getByRole("button", { name: `Remove read:${folder}` }).click();
  const left = async () => (await core.ask<{ rules: unknown[] }>("rules_list")).rules.length;
  await expect.poll(left).toBe(0);
  await deny(await asks(read(folder)));
  await page.context().close();
});

/** A week later the question still waits: time answers nothing, neither the core's nor the page's. */
it("15: is never answered by waiting", async () => {
  const clock = join(core.home, "clock");
  writeFileSync(clock, "+0");
  const patient = new Core({
    OPENSPACE_MODEL: "openai/test",
    // The loader puts the folder of this machine's libraries in place of $LIB.
    LD_PRELOAD: "/usr/$LIB/faketime/libfaketime.so.1",
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: "1",
  });
  try {
    await patient.start();
    await patient.past();
    patient.model.will(shell("curl https://example.org/", true));
    await patient.begin("Wait a week", { preset: "ask-risky" });
    const id = await patient.question();
    const asked = await patient.ask<Question>("approval_get", { approval: id });
    const page = await patient.open("/approvals");
    await card(page, id).waitFor();
    await page.clock.install();
    writeFileSync(clock, `+${WEEK / 1_000}`);
    await page.clock.fastForward(WEEK);
    await page.getByText("7 days ago", { exact: true }).waitFor();
    // The core believes it: what happens now happens a week later.
    patient.model.will("Then.");
    const late = await patient.begin("Now");
    await patient.ended(late);
    const { run } = await patient.ask<{ run: { createdAt: number } }>("run_detail", { run: late });
    expect(run.createdAt - asked.askedAt).toBeGreaterThanOrEqual(WEEK);
    const now = await patient.ask<Question>("approval_get", { approval: id });
    expect(now.state).toBe("open");
    const { run: waiting } = await patient.ask<{ run: { status: string } }>("run_detail", {
      run: asked.run,
    });
    expect(waiting.status).toBe("needs_approval");
    await page.context().close();
    expect(patient.errors).toEqual([]);
  } finally {
    await patient.end();
  }
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
