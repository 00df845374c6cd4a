import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Core } from "./core";
import { violations } from "./serve";

let core: Core;

beforeAll(async () => {
  core = await new Core().start();
  await core.past();
});
afterAll(() => core.end());

/** A server at the same place with another token: the page says so, and the new address over it helps. */
it("says when the link has expired, and goes on with a new one", async () => {
  const page = await core.open("/settings/about");
  const port = new URL(core.address).port;
  await core.crash();
  await page.getByText("Lost contact with the core", { exact: false }).waitFor();
  rmSync(join(core.home, "data/ui-token"));
  await core.serve(undefined, port);
  await page.getByText("The link of this page has expired", { exact: false }).waitFor();
  expect(await page.getByText("Lost contact", { exact: false }).count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.evaluate((address) => (location.href = address), `${core.address}&/settings/about`);
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  expect(page.url()).not.toContain("token");
  await page.context().close();
});

/** Nobody at the old place: after a while the page says how to start the server again. */
it("says how to start the server again", async () => {
  const page = await core.open("/tasks");
  await core.crash();
  await page
    .getByText("start openspace serve again", { exact: false })
    .waitFor({ timeout: 30_000 });
  await core.serve();
  await page.context().close();
});
