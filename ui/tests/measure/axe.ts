import { Core } from "../browser/core";
import { LOOKS, ROUTES } from "../browser/routes";
import { violations } from "../browser/serve";
import type { Figure } from "./measure";

/** Findings of axe, serious or worse, on every page in every theme and language. */
export async function seriousFindings(): Promise<Figure> {
  const core = new Core();
  await core.seed("gallery");
  await core.start();
  try {
    const { runs } = await core.ask<{ runs: { id: string; status: string }[] }>("runs_list");
    // One run of each kind: its page depends on how it stands.
    const kinds = new Map(runs.map((run) => [run.status, `/runs/${run.id}`]));
    let found = 0;
    let pages = 0;
    for (const [theme, language] of LOOKS) {
      await core.ask("setting_set", { key: "language", value: language });
      const page = await core.open("/tasks", { dark: theme === "dark" });
      await page.locator(`html[lang=${language}]`).waitFor();
      for (const route of [...ROUTES, ...kinds.values()]) {
        await page.evaluate((hash) => (location.hash = hash), `#${route}`);
        await page.locator("main h1").first().waitFor();
        const serious = await violations(page);
        for (const finding of serious) console.error(`${route}: ${finding}`);
        found += serious.length;
        pages += 1;
      }
      await page.context().close();
    }
    return { value: found, samples: pages };
  } finally {
    await core.end();
  }
}
