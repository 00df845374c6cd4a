import { Core } from "../browser/core";
import { median, type Figure } from "./measure";

const TASKS = 10_000;

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
      // All over the list, the oldest ones included.
      const wanted = String(TASKS - Math.floor((index * TASKS) / times));
      await field.fill(wanted.slice(0, -1));
      await page.locator("[data-run-index]").nth(1).waitFor();
      const shown = page.evaluate(shownAfterKey, wanted);
      await field.press(wanted.slice(-1));
      samples.push(await shown);
    }
    return median(samples);
  } finally {
    await core.end();
  }
}

/** Run in the page: milliseconds from the next key to the frame after which only `wanted` is listed. */
function shownAfterKey(wanted: string): Promise<number> {
  return new Promise((resolve) => {
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
}
