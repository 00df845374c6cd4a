import { setTimeout as wait } from "node:timers/promises";
import type { CDPSession } from "playwright-core";
import { Core } from "../browser/core";
import type { Figure } from "./measure";

/** Before the first look: the page loads what comes later. */
const SETTLED = 10_000;

/** How much the page of a run in which something happens ten times a second grows, after a collection. */
export async function heapGrowth(minutes: number): Promise<Figure> {
  const core = new Core();
  const run = await core.seed("busy");
  await core.start();
  try {
    const page = await core.open(`/runs/${run}`);
    await page.getByRole("slider").waitFor();
    const debug = await page.context().newCDPSession(page);
    await wait(SETTLED);
    const before = await heap(debug);
    await wait(minutes * 60_000);
    return { value: ((await heap(debug)) - before) / 1e6, samples: 1 };
  } finally {
    await core.end();
  }
}

async function heap(debug: CDPSession): Promise<number> {
  await debug.send("HeapProfiler.enable");
  // What only finalizers hold goes with the second one.
  await debug.send("HeapProfiler.collectGarbage");
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize } = await debug.send("Runtime.getHeapUsage");
  return usedSize;
}
