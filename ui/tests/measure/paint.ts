import { Core } from "../browser/core";
import { WebKit } from "../webkit/webkit";
import { median, type Figure } from "./measure";

const PAINTED = `return performance.getEntriesByName("first-contentful-paint")[0]?.startTime`;

/** From the navigation to the first paint with content in WebKitGTK, as the page itself measures it. */
export async function firstPaint(times: number): Promise<Figure> {
  const core = new Core();
  await core.seed("gallery");
  await core.startWithoutBrowser();
  const browser = await new WebKit().start();
  try {
    const samples: number[] = [];
    for (let index = 0; index < times; index += 1) {
      // Another page between, so that each time is a navigation and not a change of the hash.
      await browser.open("about:blank");
      await browser.open(`${core.address}&/tasks`);
      samples.push(await browser.until<number>(PAINTED));
    }
    return median(samples);
  } finally {
    await Promise.all([browser.end(), core.end()]);
  }
}
