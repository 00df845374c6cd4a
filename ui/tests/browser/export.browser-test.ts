import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Core } from "./core";
import { computer, shell } from "./model";
import { violations } from "./serve";

/** The key that every core here was given. */
const SECRET = "sk-test-1234567890";
let core: Core;

beforeAll(async () => {
  core = await new Core({ OPENSPACE_MODEL: "openai/test" }).start();
  await core.past();
});
afterAll(() => core.end());

/** An export shows what it holds and hides; what is written has log and pictures, and not one secret. */
it("27: exports without secrets", async () => {
  core.model.will(shell(`echo the key is ${SECRET}`), computer("screenshot"), "Printed.");
  const run = await core.begin("Print the key", {
    backends: ["shell", "gui"],
    display: "private",
    allow: ["gui:*"],
  });
  await core.ended(run);
  // It is there to be hidden.
  expect(core.model.heard.at(-1)).toContain("the key is");
  const page = await core.open(`/runs/${run}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Export…" }).click();
  const dialog = page.getByRole("dialog", { name: "Export this run" });
  await dialog.getByText(/\d+ secrets? will be blacked out/).waitFor();
  const row = dialog.getByRole("row").filter({ hasText: "events.jsonl" });
  expect(Number(await row.getByRole("cell").nth(1).innerText())).toBeGreaterThan(0);
  expect(await violations(page)).toEqual([]);
  const folder = join(core.home, "export");
  await dialog.getByLabel("Folder", { exact: true }).fill(folder);
  await dialog.getByRole("button", { name: "Write the folder" }).click();
  await dialog.getByText(/files? (was|were) written/).waitFor();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = files.map(({ name }) => name);
  expect(names).toContain("events.jsonl");
  expect(names.some((name) => /\.(png|webp|jpe?g)$/.test(name))).toBe(true);
  for (const file of files)
    expect(readFileSync(join(file.parentPath, file.name), "latin1")).not.toContain(SECRET);
  await page.context().close();
});

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
