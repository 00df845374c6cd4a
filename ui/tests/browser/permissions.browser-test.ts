import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { key, Screen } from "../screen";
import { Core } from "./core";

const folder = mkdtempSync(join(tmpdir(), "openspace-keys-"));
const keys = join(folder, "server");
/** Where the core looks for its key to the screen: nobody has given it one. */
const own = join(folder, "own");
const display = new Screen();
let name: string;
let core: Core;

beforeAll(async () => {
  writeFileSync(keys, key());
  name = await display.start(keys);
  const variables = { OPENSPACE_MODEL: "openai/test", DISPLAY: name, XAUTHORITY: own };
  core = await new Core(variables).start();
});
afterAll(async () => {
  await core.end();
  await display.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Looking at the cards asks the core for its checks and for nothing else, and not one asks the model. */
it("30: nothing is asked of the system by looking", async () => {
  const page = await core.open("/welcome/welcome");
  const asked: { name: string; request: object }[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/rpc")
      asked.push(request.postDataJSON() as (typeof asked)[number]);
  });
  for (const hash of ["/welcome/permissions", "/settings/permissions"]) {
    asked.length = 0;
    await page.evaluate((hash) => (location.hash = hash), `#${hash}`);
    const card = page.getByRole("group", { name: "See and use the screen" });
    await card.getByText("there is no screen to use", { exact: false }).waitFor();
    await page.waitForTimeout(1_500);
    const checks = asked.filter(({ name }) => name === "check_run");
    expect(checks.length).toBeGreaterThan(4);
    expect(checks.every(({ request }) => "askModel" in request && !request.askModel)).toBe(true);
    // What a page reads to be shown, and where it stands; nothing that acts.
    const rest = asked.filter(
      ({ name }) => !/^(check_run|.*_(get|list|state)|ui_state_set)$/.test(name),
    );
    expect(rest).toEqual([]);
  }
  await page.context().close();
});

/** The screen comes within reach, and the card says so within two seconds, without a reload. */
it("31: a permission that is granted shows by itself", async () => {
  const page = await core.open("/welcome/permissions");
  const card = page.getByRole("group", { name: "See and use the screen" });
  await card.getByText("there is no screen to use", { exact: false }).waitFor();
  await page.evaluate(() => Object.assign(window, { sameAsBefore: true }));
  copyFileSync(keys, own);
  const granted = Date.now();
  await card.getByText(`${name}:`, { exact: false }).waitFor();
  expect(Date.now() - granted).toBeLessThanOrEqual(2_000);
  expect(await page.evaluate(() => "sameAsBefore" in window)).toBe(true);
  await page.context().close();
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
