import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { render } from "../../scripts/tokens.mjs";
import tokens from "./tokens.json";

type Theme = Record<string, string>;
const THEMES: Record<string, Theme> = {
  light: tokens.light,
  dark: tokens.dark,
  "high contrast, light": { ...tokens.light, ...tokens["high-light"] },
  "high contrast, dark": { ...tokens.dark, ...tokens["high-dark"] },
};

/** Relative luminance and contrast as WCAG 2 defines them. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["bg", "surface", "raised", "sunken"];
const TEXTS = [
  "text",
  "text-2",
  "text-3",
  "accent",
  "control",
  "evolve",
  "ok",
  "warn",
  "danger",
  "info",
];
const SOFT = ["accent", "ok", "warn", "danger", "control", "evolve"];

const pairs: [string, string, number][] = [
  ...TEXTS.flatMap((text) =>
    GROUNDS.map((ground): [string, string, number] => [text, ground, 4.5]),
  ),
  ...SOFT.map((name): [string, string, number] => [name, `${name}-soft`, 4.5]),
  ...SOFT.map((name): [string, string, number] => ["text", `${name}-soft`, 4.5]),
  ["text-2", "warn-soft", 4.5],
  ["on-accent", "accent-fill", 4.5],
  ["on-accent", "accent-fill-hover", 4.5],
  ["on-control", "control", 4.5],
  ["on-danger", "danger", 4.5],
  ["on-danger", "danger-hover", 4.5],
  ["bg", "text", 4.5],
  ["bg", "warn", 4.5],
  ["text", "diff-add", 4.5],
  ["text", "diff-del", 4.5],
  ...GROUNDS.map((ground): [string, string, number] => ["border-strong", ground, 3]),
  ...GROUNDS.map((ground): [string, string, number] => ["accent-fill", ground, 3]),
];

describe.each(Object.entries(THEMES))("%s", (name, theme) => {
  const high = name.startsWith("high");

  /** Text is readable and controls are visible on everything they may lie on. */
  it.each(pairs)("%s on %s", (text, ground, least) => {
    const wanted =
      high && least === 4.5 && TEXTS.includes(text) ? 7 : high ? Math.max(least, 4.5) : least;
    expect(contrast(theme[text] ?? "", theme[ground] ?? "")).toBeGreaterThanOrEqual(wanted);
  });
});

describe("the files", () => {
  /** The style sheet is the one that the tokens make. */
  it("agree", () => {
    const written = readFileSync(new URL("tokens.css", import.meta.url), "utf8");
    expect(written).toBe(render(tokens));
  });

  /** The colour that says "the agent moves your mouse" is used by the chip that says so, and nowhere else. */
  it("keep the control colour for its purpose", async () => {
    const { readdirSync } = await import("node:fs");
    const root = new URL("../", import.meta.url);
    const users = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(svelte|css)$/.test(file) && !file.endsWith("tokens.css"))
      .filter((file) =>
        /--(on-)?control(-soft)?\b(?!-height)/.test(readFileSync(new URL(file, root), "utf8")),
      );
    expect(users).toEqual(["components/DriverChip.svelte"]);
  });
});
