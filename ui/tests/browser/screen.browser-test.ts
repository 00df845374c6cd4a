import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Screen } from "../screen";
import { Core } from "./core";
import { computer } from "./model";

interface Detail {
  run: { status: string; step: number; reason: { kind: string } | null };
  frames: { id: string; step: number; at: number }[];
  events: { kind: string; at: number; payload: Record<string, unknown> }[];
}

const display = new Screen();
let core: Core;

beforeAll(async () => {
  const variables = { OPENSPACE_MODEL: "openai/test", DISPLAY: await display.start() };
  core = await new Core(variables).start();
  await core.past();
});
afterAll(async () => {
  await core.end();
  await display.end();
});

const ON_SCREEN = { backends: ["gui"], allow: ["gui:*"] };
const move = (x: number) => computer("mouse_move", { coordinate: [x, 200] });
const main = (page: Page) => page.getByRole("main");
const detail = (run: string) => core.ask<Detail>("run_detail", { run });
const inControl = async () => (await core.ask<{ inControl: string[] }>("app_state")).inControl;

/** Whoever handed the screen back may have left it another one: the next move waits for a new picture. */
it("7: after hand-back the first agent step is a new frame", async () => {
  const moves = Array.from({ length: 200 }, (_, index) => move(100 + index));
  core.model.will(computer("screenshot"), ...moves, "Moved.");
  const run = await core.begin("Move about", ON_SCREEN);
  const page = await core.open(`/runs/${run}`);
  await expect.poll(async () => (await detail(run)).run.step).toBeGreaterThan(2);
  await main(page).getByRole("button", { name: "Take over" }).click();
  await main(page).getByText("You are in control").waitFor();
  await expect.poll(async () => (await detail(run)).run.status).toBe("paused");
  const before = await detail(run);
  // What the person does: another window lies on the screen now.
  await display.cover("teal");
  core.model.will(move(700), "Moved once more.");
  await main(page).getByRole("button", { name: "Hand back" }).click();
  await main(page).getByText("Moved once more.").first().waitFor();
  const after = await detail(run);
  const fresh = after.frames.filter(({ id }) => before.frames.every((old) => old.id !== id));
  expect(fresh.map(({ step }) => step)).toEqual([before.run.step + 1]);
  // The move itself was not made: the picture is its answer.
  expect(core.model.heard.at(-1)).toContain("the screen changed while this run was paused");
  // The page shows that picture as the newest.
  await expect.poll(() => page.locator(".strip-list img").count()).toBe(after.frames.length);
  await page.context().close();
});

/** One run has the screen; the other says that it waits, and goes on when the first is stopped. */
it("10: two runs never hold control at once", async () => {
  core.model.will(computer("screenshot"), move(300), computer("wait", { duration: 60 }));
  const first = await core.begin("The first", ON_SCREEN);
  const seen = new Set<string>();
  const look = async () => {
    const holders = await inControl();
    seen.add(holders.join(" and "));
    return holders;
  };
  await expect.poll(look).toEqual([first]);
  await expect.poll(async () => (await detail(first)).run.step).toBe(3);
  core.model.will(computer("screenshot"), move(500), computer("wait", { duration: 60 }));
  const second = await core.begin("The second", ON_SCREEN);
  const page = await core.open(`/runs/${second}`);
  await main(page).getByText("another run has the screen").first().waitFor();
  expect(await look()).toEqual([first]);
  await page.evaluate(() => (location.hash = "#/tasks"));
  const row = page.getByRole("listitem").filter({ hasText: "The second" });
  await row.getByText("another run has the screen").waitFor();
  expect((await detail(second)).run.status).not.toBe("done");
  await page.evaluate((run) => (location.hash = `#/runs/${run}`), first);
  await main(page).getByRole("button", { name: "Stop", exact: true }).click();
  await expect.poll(look).toEqual([second]);
  expect([...seen].filter((holders) => holders.includes(" and "))).toEqual([]);
  await core.ask("runs_stop_all");
  await page.context().close();
});

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A monitor, in input space, and how many pixels of its picture the model got. */
interface Monitor {
  area: Area;
  scale: number;
  sent: { width: number; height: number };
}

/** Of the same shape as the screen that the picture is of. */
const MONITORS: [string, Monitor][] = [
  [
    "at 100 %",
    {
      area: { x: 0, y: 0, width: 1280, height: 960 },
      scale: 1,
      sent: { width: 1280, height: 960 },
    },
  ],
  [
    "at 150 %",
    {
      area: { x: 0, y: 0, width: 1280, height: 960 },
      scale: 1.5,
      sent: { width: 960, height: 720 },
    },
  ],
  [
    "left of and above the first",
    {
      area: { x: -1920, y: -240, width: 1920, height: 1440 },
      scale: 1,
      sent: { width: 1280, height: 960 },
    },
  ],
];

describe.each([100, 150])("25: in a window zoomed to %i per cent", (zoom) => {
  let run: string;

  beforeAll(async () => {
    core.model.will(computer("screenshot"), computer("left_click", { coordinate: [640, 300] }));
    run = await core.begin("Click", ON_SCREEN);
    await core.ended(run);
  });

  /**
   * No X server has a monitor at 150 % or a negative place, so a run of this screen is told as if it had
   * been on such a one: the core writes points of input space, which is what is changed here.
   */
  it.each(MONITORS)("marks lie on the click on a monitor %s", async (_name, monitor) => {
    const aim = { x: 400, y: 500 };
    const across = monitor.area.width / monitor.sent.width;
    const input = { x: monitor.area.x + aim.x * across, y: monitor.area.y + aim.y * across };
    const page = await core.open("/tasks", { zoom, width: 1600, height: 1000 });
    await page.route("**/rpc", async (route) => {
      const { name } = route.request().postDataJSON() as { name: string };
      if (name !== "run_detail") return route.continue();
      const answer = await route.fetch();
      return route.fulfill({ json: told((await answer.json()) as Told, monitor, input) });
    });
    await page.evaluate((run) => (location.hash = `#/runs/${run}`), run);
    await page.getByRole("button", { name: /click at 640, 300/ }).click();
    const point = page.locator('[data-mark="point"]');
    await point.waitFor();
    const mark = await point.boundingBox();
    const picture = await page.locator(".frame-picture").boundingBox();
    if (!mark || !picture) throw new Error("nothing is drawn");
    const scale = monitor.sent.width / picture.width;
    expect(Math.abs((mark.x + mark.width / 2 - picture.x) * scale - aim.x)).toBeLessThanOrEqual(2);
    expect(Math.abs((mark.y + mark.height / 2 - picture.y) * scale - aim.y)).toBeLessThanOrEqual(2);
    await page.context().close();
  });
});

interface Told {
  ok: Detail;
}

/** The same run on another monitor. */
function told(answer: Told, monitor: Monitor, input: { x: number; y: number }): Told {
  for (const { payload } of answer.ok.events) {
    const { record: made } = payload as { record?: { steps: Record<string, unknown>[] } };
    for (const record of made?.steps ?? []) {
      const geometry = record.geometry as Record<string, unknown> | undefined;
      if (geometry) {
        const { area, scale, sent } = monitor;
        Object.assign(geometry, {
          sent,
          physical: { width: area.width * scale, height: area.height * scale },
          monitor: { ...(geometry.monitor as object), area, scale },
        });
      }
      if (record.target) record.target = { input };
    }
  }
  return answer;
}

/** Nothing is left on the console: no error, nothing that the policy refused. */
it("says nothing on the console", () => {
  expect(core.errors).toEqual([]);
});
