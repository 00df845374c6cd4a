import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import tokens from "../../src/styles/tokens.json";
import { Screen } from "../screen";
import { contains, difference } from "./compare";
import { Core } from "./core";

/** The time of the seeded homes: 30 November 2026, 10:42 UTC. */
const NOW = Date.UTC(2026, 10, 30, 10, 42);
/** The server believes it too; its own waiting goes by another clock, which stays as it is. */
const THEN = {
  OPENSPACE_MODEL: "anthropic/claude-sonnet-4-6",
  // The loader puts the folder of this machine's libraries in place of $LIB.
  LD_PRELOAD: "/usr/$LIB/faketime/libfaketime.so.1",
  FAKETIME: "@2026-11-30 10:42:00",
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
  TZ: "UTC",
};

interface Look {
  name: string;
  language?: "zh-Hans";
  /** A run has control of the screen. */
  controlled?: boolean;
  hash: string | (() => Promise<string>);
  /** Brings the page into the state to be seen. */
  until(page: Page): Promise<unknown>;
}

const display = new Screen();
let calm: Core;
let controlled: Core;

beforeAll(async () => {
  const environment = { ...THEN, DISPLAY: await display.start() };
  calm = new Core(environment);
  controlled = new Core(environment);
  await Promise.all([calm.seed("gallery"), controlled.seed("gallery", "controlled")]);
  await Promise.all([calm.start(), controlled.start()]);
});
afterAll(async () => {
  await Promise.all([calm.end(), controlled.end()]);
  await display.end();
});

/** The page of the run whose task begins like this. */
function run(text: string, core = () => calm): () => Promise<string> {
  return async () => `/runs/${await core().newest(text)}`;
}

const LOOKS: Look[] = [
  {
    name: "tasks",
    hash: "/tasks",
    until: (page) => page.getByText("12 scans are renamed", { exact: false }).waitFor(),
  },
  {
    name: "run",
    hash: run("Write a greeting"),
    until: async (page) => {
      await page.getByRole("button", { name: /click at 1140, 772/ }).click();
      await page.locator('[data-mark="point"]').waitFor();
    },
  },
  {
    name: "approval",
    hash: "/approvals",
    // It may be pressed only when it was there long enough to be read.
    until: (page) => page.locator("button:enabled", { hasText: "Allow once" }).waitFor(),
  },
  {
    name: "insights",
    hash: "/insights",
    until: (page) => page.getByText("By model", { exact: false }).first().waitFor(),
  },
  {
    name: "controlled",
    controlled: true,
    hash: run("Write the minutes", () => controlled),
    until: (page) => page.locator("main img").first().waitFor(),
  },
  {
    name: "palette",
    hash: "/tasks",
    until: async (page) => {
      await page.getByText("12 scans are renamed", { exact: false }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
    },
  },
  {
    name: "safety",
    language: "zh-Hans",
    hash: "/settings/safety",
    until: (page) => page.getByText("git push", { exact: false }).first().waitFor(),
  },
  {
    name: "welcome",
    language: "zh-Hans",
    hash: "/welcome/demo",
    until: (page) => page.locator("main h1").waitFor(),
  },
];

/** Every picture of the page is there, and every letter, and no note lies over it. */
async function settled(page: Page): Promise<void> {
  await page.locator("main .gone[aria-hidden]").first().waitFor({ state: "detached" });
  await page.waitForFunction(() =>
    [...document.images].every((picture) => picture.complete && picture.naturalWidth > 0),
  );
  await page.evaluate(() => document.fonts.ready);
  await page.locator('footer a[href="#/hosts"]').waitFor();
  await page.locator('footer a[href="#/settings/agents"]').waitFor();
  // Notes come when they come, and what this machine lacks is chance.
  await page.evaluate(() => {
    const hidden = new CSSStyleSheet();
    hidden.replaceSync('.toast, nav a[href="#/diagnostics"] .badge { visibility: hidden }');
    document.adoptedStyleSheets.push(hidden);
  });
  // Which number the screen got is chance.
  await page.locator("footer span", { hasText: /^\S+ :\d+$/ }).evaluate((screen) => {
    screen.textContent = screen.textContent.replace(/:\d+/, ":0");
  });
  // The pointer rests where it changes nothing.
  await page.mouse.move(0, 0);
}

describe.each(LOOKS)("$name", (look) => {
  /** It looks as agreed on, and has the colour of control only while a run has control. */
  it.each(["light", "dark"] as const)("looks as it did in %s", async (theme) => {
    const core = look.controlled ? controlled : calm;
    // Settings are refused while a run has control, and that page is shown as it is from the start.
    if (core === calm) {
      await core.ask("setting_set", { key: "language", value: look.language ?? "en" });
    }
    const hash = typeof look.hash === "string" ? look.hash : await look.hash();
    const page = await core.open(hash, { dark: theme === "dark", now: NOW });
    await page.locator(`html[lang=${look.language ?? "en"}]`).waitFor();
    await look.until(page);
    await settled(page);
    const taken = await page.screenshot({ animations: "disabled", caret: "hide" });
    await page.context().close();
    expect(difference(`${look.name}-${theme}`, taken)).toBeNull();
    expect(contains(taken, tokens[theme].control)).toBe(look.controlled === true);
  });
});
