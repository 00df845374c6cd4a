import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, Served, violations } from "./serve";

let served: Served;
let page: Page;

beforeAll(async () => {
  served = await new Served().start();
  page = await served.open();
});
afterAll(() => served.end());

async function go(hash: string) {
  await page.evaluate((hash) => (location.hash = hash), hash);
}

async function startDemo(): Promise<string> {
  const { run } = await ask<{ run: string }>(page, "demo_start", { private: true });
  await go(`#/runs/${run}`);
  await page.getByRole("region", { name: "Steps" }).getByText("I open the text editor.").waitFor();
  return run;
}

const words = () => page.getByRole("region", { name: "Steps" }).innerText();

describe("the demo in a browser", () => {
  /** The token is out of the address and the title is marked as ours. */
  it("opens with a token that disappears", async () => {
    expect(page.url()).not.toContain("token");
    expect(await page.title()).toContain("\u2060OpenSpace\u2060");
  });

  /** The run is watched live until it asks; a dropped line of 3 s leaves no trace in what is shown. */
  it("is watched, also through a cut", async () => {
    await startDemo();
    await page.context().setOffline(true);
    await page.waitForTimeout(3_000);
    await page.context().setOffline(false);
    await page.getByRole("main").getByText("needs approval", { exact: true }).first().waitFor();
    await expect.poll(words).toContain("asked for permission");
    const shown = await words();
    await page.reload();
    await page.getByRole("main").getByText("needs approval", { exact: true }).first().waitFor();
    await expect.poll(words).toBe(shown);
  });

  /** Allowed, it goes on and ends; pictures are files of the server, never text in the page. */
  it("ends after the answer", async () => {
    const { approvals } = await ask<{ approvals: { id: string; nonce: string }[] }>(
      page,
      "approvals_list",
      {},
    );
    const [open] = approvals;
    await ask(page, "approval_answer", { approval: open?.id, nonce: open?.nonce, choice: "once" });
    await page.getByRole("region", { name: "How it came out" }).waitFor();
    const pictures = page.locator("main img");
    await pictures.first().waitFor();
    const sources = await pictures.evaluateAll((all) =>
      all.map((image) => (image as HTMLImageElement).src),
    );
    expect(sources.length).toBeGreaterThan(3);
    expect(sources.every((source) => source.startsWith("blob:"))).toBe(true);
  });

  /** The ring of a click lies within two pixels of where the click was. */
  it("draws the click where it was", async () => {
    const row = page.getByRole("button", { name: /click at 1140, 772/ });
    const point = page.locator('[data-mark="point"]');
    // The answer is told above the steps in these moments, which moves them: a click may meet another row.
    await expect
      .poll(async () => {
        await row.click();
        return point.isVisible();
      })
      .toBe(true);
    const [mark, picture] = [
      await point.boundingBox(),
      await page.locator(".frame-picture").boundingBox(),
    ];
    if (!mark || !picture) throw new Error("nothing is drawn");
    const scale = 1280 / picture.width;
    expect(Math.abs((mark.x + mark.width / 2 - picture.x) * scale - 1140)).toBeLessThanOrEqual(2);
    expect(Math.abs((mark.y + mark.height / 2 - picture.y) * scale - 772)).toBeLessThanOrEqual(2);
  });

  /** Nothing is left on the console: no error, nothing that the policy refused. */
  it("says nothing on the console", () => {
    expect(served.errors).toEqual([]);
  });
});

/** Stop ends the run, and everything that was there is there after a reload. */
it("stops and loses nothing", async () => {
  await startDemo();
  await page.getByRole("main").getByText("needs approval", { exact: true }).first().waitFor();
  const before = await beginning();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page
    .getByRole("main")
    .getByText("stopped", { exact: true })
    .first()
    .waitFor({ timeout: 2_000 });
  await page.reload();
  await page.getByRole("main").getByRole("button", { name: "Continue" }).first().waitFor();
  expect(await beginning()).toEqual(before);
});

/** What the first steps say; the list shows only what is looked at. */
async function beginning(): Promise<string[]> {
  await page.getByRole("slider").focus();
  await page.keyboard.press("Home");
  // The list follows a moment later, and the words of the step stand beside it as well.
  await expect.poll(words).toMatch(/^Steps\s+Step 1\n/);
  return (await words()).split("\n").slice(0, 20);
}

/** A run of 1,200 steps has few rows in the page, and any step is reached at once. */
it("shows long runs", async () => {
  const { runs } = await ask<{ runs: { id: string }[] }>(page, "runs_list", {
    statuses: [],
    limit: 1,
  });
  const detail = await ask<Record<string, unknown>>(page, "run_detail", { run: runs[0]?.id });
  const key = runs[0]?.id ?? "";
  const events = Array.from({ length: 1_200 }, (_, index) => ({
    id: index + 1,
    topic: "run",
    key,
    seq: index + 1,
    at: 1_000 * index,
    kind: "step.text",
    v: 1,
    payload: { step: index + 1, text: `Step number ${index + 1}` },
  }));
  await page.route("**/rpc", async (route) => {
    const { name } = route.request().postDataJSON() as { name: string };
    if (name !== "run_detail") return route.continue();
    return route.fulfill({ json: { ok: { ...detail, events } } });
  });
  await go("#/tasks");
  await page.getByRole("list", { name: "Runs" }).waitFor();
  await go(`#/runs/${key}`);
  await page.getByText("Step number 1200").first().waitFor();
  expect(await page.locator(".steps-list [role=listitem]").count()).toBeLessThanOrEqual(60);
  const axis = page.getByRole("slider");
  await axis.focus();
  await page.keyboard.press("Home");
  await page.getByRole("heading", { name: "Step 1", exact: true }).waitFor();
  await page
    .getByRole("region", { name: "Steps" })
    .getByText("Step number 1", { exact: true })
    .waitFor();
  await page.unroute("**/rpc");
});

describe.each([
  ["light", false],
  ["dark", true],
])("in %s", (_name, dark) => {
  /** Both pages are usable by everybody in both languages. */
  it.each(["en", "zh-Hans"])("is accessible in %s", async (language) => {
    page = await served.open({ dark });
    await ask(page, "setting_set", { key: "language", value: language });
    await page.reload();
    for (const hash of ["#/tasks", `#/runs/${await newest()}`]) {
      await go(hash);
      await page.locator("main h1").waitFor();
      await page.locator("[role=list]").first().waitFor();
      expect(await violations(page)).toEqual([]);
    }
    expect(await page.locator("html").getAttribute("lang")).toBe(language);
    await ask(page, "setting_set", { key: "language", value: "en" });
  });
});

async function newest(): Promise<string> {
  const { runs } = await ask<{ runs: { id: string }[] }>(page, "runs_list", {
    statuses: [],
    limit: 1,
  });
  return runs[0]?.id ?? "";
}
