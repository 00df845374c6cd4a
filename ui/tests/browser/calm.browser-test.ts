import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Screen } from "../screen";
import { Core, go } from "./core";
import { beside } from "./layout";
import { computer, shell } from "./model";
import { ROUTES } from "./routes";

const display = new Screen();
let core: Core;

beforeAll(async () => {
  const variables = { OPENSPACE_MODEL: "openai/test", DISPLAY: await display.start() };
  core = await new Core(variables).start();
  await core.past();
});
afterAll(async () => {
  await core.end();
  await display.end();
});

/** What moves in the page. */
const moving = (page: Page) =>
  page.evaluate(() =>
    document
      .getAnimations()
      .filter((animation) => animation.playState === "running")
      .map((animation) => (animation.effect as KeyframeEffect).target?.outerHTML.slice(0, 100)),
  );

/** Nothing moves for who wants it calm: on every page, and on a run that goes, where else it does. */
it("66: stands still with reduced motion", async () => {
  // With its first move it takes control, which is what moves in the page.
  core.model.will(
    computer("screenshot"),
    computer("mouse_move", { coordinate: [200, 200] }),
    computer("wait", { duration: 60 }),
  );
  const run = `/runs/${await core.begin("Wait", { backends: ["gui"], allow: ["gui:*"] })}`;
  const page = await core.open(run);
  await page.getByRole("main").getByText("Agent is in control").first().waitFor();
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await expect.poll(() => moving(page)).not.toEqual([]);
  await page.emulateMedia({ reducedMotion: "reduce" });
  const look = async (page: Page, routes: readonly string[]) => {
    for (const route of routes) {
      await go(page, route);
      await page.waitForTimeout(1_000);
      expect(await moving(page), route).toEqual([]);
    }
  };
  const [middle, other] = [Math.ceil(ROUTES.length / 2), await core.open("/tasks")];
  await Promise.all([
    look(page, [run, ...ROUTES.slice(0, middle)]),
    look(other, ROUTES.slice(middle)),
  ]);
  await other.context().close();
  await core.ask("runs_stop_all");
  await page.context().close();
});

/** Twice as large in the smallest window: the pages of tasks and runs lose no action either. */
it("65: loses no action at 200 %", async () => {
  core.model.will(shell("curl https://example.org/", true));
  const run = await core.begin("Ask me something at twice the size", { preset: "ask-risky" });
  const page = await core.open(`/runs/${run}`, { width: 960, height: 640, zoom: 200 });
  await page.locator("[data-approval]").waitFor();
  expect(await page.evaluate(beside)).toEqual([]);
  // The answer can be reached, and notes do not lie over it.
  const deny = page.getByRole("button", { name: "Deny", exact: true });
  await deny.scrollIntoViewIfNeeded();
  await deny.click();
  await page.getByText("Denied", { exact: true }).waitFor();
  await go(page, "/tasks");
  await page.getByRole("list", { name: "Runs" }).waitFor();
  // Rows are drawn when they are looked at.
  await page.getByRole("main").evaluate((main) => (main.scrollTop = main.scrollHeight));
  const more = page.getByRole("button", { name: /^More for/ }).first();
  await more.waitFor();
  expect(await page.evaluate(beside)).toEqual([]);
  await more.click();
  const menu = await page.getByRole("menu").boundingBox();
  expect(menu && menu.x >= 0 && menu.x + menu.width <= 960).toBe(true);
  await page.keyboard.press("Escape");
  await page.context().close();
  await core.ask("runs_stop_all");
});

interface Said {
  live: string;
  at: number;
  text: string;
}

/** A quick run is told in few words, however much happens; a question at once. */
it("69: talks little and never misses a question", async () => {
  // Each step is several events: ten and more a second.
  const steps = Array.from({ length: 35 }, (_, index) => shell(`sleep 0.3; echo ${index}`));
  core.model.will(...steps, shell("curl https://example.org/", true), "Done.");
  const page = await core.open("/tasks");
  await page.evaluate(() => {
    const look = JSON.parse(localStorage.getItem("openspace-look") ?? "{}") as object;
    localStorage.setItem("openspace-look", JSON.stringify({ ...look, verbose: true }));
  });
  await page.reload();
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.evaluate(() => {
    const said: Said[] = [];
    Object.assign(window, { said });
    for (const live of ["polite", "assertive"]) {
      const region = document.querySelector(`[aria-live=${live}]`);
      if (!region) throw new Error(`there is no ${live} region`);
      new MutationObserver(() =>
        said.push({ live, at: performance.now(), text: region.textContent }),
      ).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  const run = await core.begin("Do a lot", { preset: "ask-risky" });
  await go(page, `/runs/${run}`);
  await page.locator("[data-approval]").waitFor({ timeout: 50_000 });
  const said = await page.evaluate(() => (window as unknown as { said: Said[] }).said);
  const polite = said.filter(({ live }) => live === "polite");
  expect(polite.length).toBeGreaterThan(1);
  polite.slice(1).forEach(({ at }, index) => {
    expect(at - (polite[index]?.at ?? 0)).toBeGreaterThan(4_900);
  });
  expect(said.filter(({ live }) => live === "assertive").at(-1)?.text).toContain("permission");
  await core.ask("runs_stop_all");
  await page.context().close();
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
