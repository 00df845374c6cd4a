import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Core } from "./core";
import { violations } from "./serve";

let core: Core;
const log = (name: string) => join(core.home, "data/logs", `${name}.log`);
const SECRET = "sk-ant-api03-abcdefghijklmnop";

beforeAll(async () => {
  core = await new Core().start();
  await core.past();
  mkdirSync(join(core.home, "data/logs"), { recursive: true });
  writeFileSync(
    log("sample"),
    [
      "2026-11-30T10:00:00.000001Z  INFO openspace_app: a runner began",
      `2026-11-30T10:00:02.000001Z ERROR openspace_llm: refused ${SECRET}`,
      "  in a second line <b>bold</b>",
      "2026-11-30T10:00:03.000001Z DEBUG openspace_llm: in detail",
      "",
    ].join("\n"),
  );
  writeFileSync(log("other"), "2026-11-30T10:00:01.000001Z  WARN openspace_app: elsewhere\n");
});
afterAll(() => core.end());

/** What our processes logged is shown in the order of time, without secrets, filtered and followed. */
it("shows, filters and follows the logs", async () => {
  const page = await core.open("/diagnostics");
  const logs = page.getByRole("region", { name: "Logs" });
  const list = logs.getByRole("list", { name: "Logs" });
  const shown = () => list.locator("li[data-level] .text").allTextContents();
  const refused = "openspace_llm: refused [redacted]\n  in a second line <b>bold</b>";
  await logs.getByLabel("Log", { exact: true }).selectOption("sample");
  await expect.poll(shown).toEqual(["openspace_app: a runner began", refused]);
  expect(await page.content()).not.toContain(SECRET);

  await logs.getByLabel("Least importance").selectOption("trace");
  await expect.poll(async () => (await shown()).at(-1)).toBe("openspace_llm: in detail");
  await logs.getByRole("searchbox").fill("REFUSED");
  await expect.poll(shown).toEqual([refused]);
  await logs.getByRole("searchbox").fill("");
  await logs.getByLabel("Log", { exact: true }).selectOption("");
  await expect
    .poll(async () => (await shown()).slice(0, 3))
    .toEqual(["openspace_app: a runner began", "openspace_app: elsewhere", refused]);

  await logs.getByRole("switch", { name: "Follow" }).click();
  appendFileSync(log("other"), "2999-11-30T10:00:04.000001Z  INFO openspace_app: just now\n");
  await expect.poll(async () => (await shown()).at(-1)).toBe("openspace_app: just now");
  const below = () =>
    list.evaluate((it) => it.scrollHeight - it.clientHeight - Math.round(it.scrollTop));
  await expect.poll(below).toBeLessThanOrEqual(1);
  expect(await violations(page)).toEqual([]);
  await page.context().close();
});
