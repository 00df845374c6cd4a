import { afterAll, beforeAll, expect, it } from "vitest";
import { Core } from "./core";
import { shell } from "./model";

let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
});
afterAll(() => core.end());

/** A run that goes is followed at its end; who scrolls up to read is left alone until Live is pressed. */
it("follows a run only while nobody reads", async () => {
  core.model.will(...Array.from({ length: 60 }, (_, index) => shell(`echo ${index}; sleep 0.2`)));
  const run = await core.begin("Count slowly", {
    limits: { steps: 100, minutes: null, tokens: null, dollars: null },
  });
  const page = await core.open(`/runs/${run}`);
  const list = page.locator(".steps-list");
  const where = () =>
    list.evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
      at: scrollTop,
      left: scrollHeight - clientHeight - scrollTop,
    }));
  const steps = async () =>
    Number(await page.getByRole("slider").getAttribute("aria-valuemax", { timeout: 1_000 }));
  const more = async () => {
    const now = await steps();
    await expect.poll(steps).toBeGreaterThan(now + 2);
  };

  await expect.poll(async () => (await where()).at).toBeGreaterThan(300);
  await more();
  await expect.poll(async () => (await where()).left).toBeLessThan(3);

  await list.hover();
  await page.mouse.wheel(0, -200);
  await expect.poll(async () => (await where()).left).toBeGreaterThan(100);
  const { at } = await where();
  await more();
  expect(Math.abs((await where()).at - at)).toBeLessThan(3);

  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect.poll(async () => (await where()).left).toBeLessThan(3);
  await more();
  await expect.poll(async () => (await where()).left).toBeLessThan(3);
  await page.context().close();
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", async () => {
  await core.ask("runs_stop_all");
  expect(core.errors).toEqual([]);
});
