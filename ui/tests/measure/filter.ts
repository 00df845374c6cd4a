import { Core } from "../browser/core";
import { median, type Figure } from "./measure";

const TASKS = 10_000;
/** The number below which others contain it. */
const ALONE = 1_001;

/**
 * From a key in the search of the task list to the frame that shows the one task that fits, which may
 * be any of 10,000 in the store.
 */
export async function filterTime(times: number): Promise<Figure> {
  const core = new Core();
  await core.seed("tasks", String(TASKS));
  await core.start();
  try {
    const page = await core.open("/tasks");
    const field = page.getByRole("searchbox");
    await field.waitFor();
    const samples: number[] = [];
    for (let index = 0; index < times; index += 1) {
      // All over the list, as far down as a number is part of no longer one.
      const wanted = String(TASKS - Math.floor((index * (TASKS - ALONE)) / times));
      await field.fill(wanted.slice(0, -1));
      await page.locator("[data-run-index]").nth(1).waitFor();
      // Heard before the key is pressed, or it is never heard.
      const shown = await page.evaluateHandle(shownAfterKey, wanted);
      await field.press(wanted.slice(-1));
      samples.push(await shown.evaluate((it) => it.measured));
    }
    return median(samples);
  } finally {
    await core.end();
  }
}

/**
 * Run in the page: milliseconds from the next key to the frame after which only `wanted` is listed.
 * Wrapped, since what waits for a promise would wait for this one.
 */
function shownAfterKey(wanted: string): { measured: Promise<number> } {
  const LIMIT = 10_000;
  const measured = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error(`${wanted} is not shown`)), LIMIT);
    addEventListener(
      "keydown",
      (event) => {
        const look = () => {
          const rows = [...document.querySelectorAll("[data-run-index] a")];
          const found =
            rows.length > 0 && rows.every((row) => row.textContent?.endsWith(` ${wanted}`));
          // A task after the frame callback runs when the frame has been drawn.
          if (found) setTimeout(() => resolve(performance.now() - event.timeStamp));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      },
      { capture: true, once: true },
    );
  });
  return { measured };
}
