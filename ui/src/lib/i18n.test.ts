import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "svelte/compiler";
import english from "../../messages/en.json";
import chinese from "../../messages/zh-Hans.json";
import { groupOf, LATER, OTHERS } from "../../scripts/sentences.mjs";
import { languageOf, pseudo, render, speaker } from "./i18n.svelte";

const placeholders = (text: string) =>
  [...text.matchAll(/\{([^}]*)\}/g)].map((match) => match[1]).sort();

describe("sentences", () => {
  /** Both languages have the same keys with the same places for values. */
  it("are the same in every language", () => {
    const shape = (messages: Record<string, string>) =>
      Object.entries(messages)
        .map(([key, text]) => [key, placeholders(text)] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1));
    expect(shape(chinese)).toEqual(shape(english));
  });

  /** What the built pages leave out is said by none of them. */
  it("of other surfaces are said by no page", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" });
    const pages = files.filter((file) => /\.(ts|svelte)$/.test(file) && !file.includes("test."));
    const others = Object.keys(english).filter((key) => OTHERS.includes(key.split(".")[0] ?? ""));
    expect(others.length).toBeGreaterThan(20);
    const said = pages.flatMap((file) => {
      const text = readFileSync(`src/${file}`, "utf8");
      return others.filter((key) => text.includes(`"${key}"`) || text.includes(`\`${key}`));
    });
    expect(said).toEqual([]);
  });

  /** What is loaded later is said by nothing that is there from the beginning. */
  it("of later pages are not said by the first", () => {
    const first = loadedWith("src/main.ts");
    expect(first.size).toBeGreaterThan(80);
    expect([...first]).toContain("src/views/runs/RunView.svelte");
    expect([...first]).not.toContain("src/views/settings/SettingsView.svelte");
    const said = [...first].flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/["'`]((?:ui\.)?[a-z_]+)\./g)]
        .filter(([, group]) => LATER.includes(group ?? ""))
        .map(([text]) => `${file}: ${text}`),
    );
    expect(said).toEqual([]);
    const groups = new Set(Object.keys(english).map(groupOf));
    expect(LATER.filter((group) => !groups.has(group))).toEqual([]);
  });

  /** A sentence in one number has the other one too, and both count. */
  it("have both numbers", () => {
    const keys = Object.keys(english);
    const ones = keys.filter((key) => key.endsWith(".one")).map((key) => key.slice(0, -4));
    const others = keys.filter((key) => key.endsWith(".other")).map((key) => key.slice(0, -6));
    const plural = others.filter((key) => key.startsWith("ui."));
    expect(plural.filter((key) => !ones.includes(key))).toEqual([]);
    // The tray picks its sentences itself and calls the other one `many`.
    const alone = ones.filter((key) => !others.includes(key) && !keys.includes(`${key}.many`));
    expect(alone).toEqual([]);
  });

  /** Filling in is what the Rust side does: missing values show, stray braces stay. */
  it("are filled in", () => {
    expect(render("a {x} b {y}", { x: 1, y: "2" })).toBe("a 1 b 2");
    expect(render("a {x}", {})).toBe("a …");
    expect(render("a { b", {})).toBe("a { b");
    expect(render("{a}{a}", { a: "{b}" })).toBe("{b}{b}");
  });

  /** The number chooses the sentence; Chinese has one for all. */
  it("count", async () => {
    await speaker.speak("en");
    expect(speaker.say("ui.run.steps", { count: 1 })).toBe("1 step");
    expect(speaker.say("ui.run.steps", { count: 2 })).toBe("2 steps");
    expect(speaker.say("ui.run.steps", { count: 0 })).toBe("0 steps");
    await speaker.speak("zh-Hans");
    expect(speaker.say("ui.run.steps", { count: 1 })).toBe("1 步");
    await speaker.speak("en");
    expect(speaker.say("no.such.key")).toBe("no.such.key");
  });

  /** The rest comes in the language that was asked for last, whatever arrives first. */
  it("come in one language", async () => {
    await Promise.all([speaker.learn(), speaker.speak("zh-Hans"), speaker.learn()]);
    expect(speaker.speech).toBe("zh-Hans");
    expect(speaker.say("ui.nav.tasks")).toBe("任务");
    expect(speaker.say("ui.welcome.next")).toBe("下一步");
    await speaker.speak("en");
    expect(speaker.say("ui.welcome.next")).toBe("Next");
  });

  /** The made-up language changes every word and no placeholder. */
  it("can be made foreign", () => {
    expect(pseudo("Stop {run} now")).toMatch(/^\[Stóp \{run\} ñów~+\]$/);
  });

  it("follow the locale", () => {
    expect(languageOf("zh-CN")).toBe("zh-Hans");
    expect(languageOf("zh-TW")).toBe("en");
    expect(languageOf("de-DE")).toBe("en");
  });
});

/** The files that are loaded together with one, because they are imported and not only when wanted. */
function loadedWith(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  const imports = /^\s*(?:import|export)\s(?!type\s)(?:[^;"]*?\sfrom\s)?"(\.[^"]+)"/gm;
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(imports)) {
    const whole = join(dirname(file), path);
    const found = [whole, `${whole}.ts`, `${whole}.svelte.ts`].find(
      (name) => /\.(ts|svelte)$/.test(name) && existsSync(name),
    );
    if (found) loadedWith(found, known);
  }
  return known;
}

interface Node {
  type: string;
  name?: string;
  data?: string;
  value?: unknown;
  [key: string]: unknown;
}

/** Words in markup that do not come from the sentences. */
function literals(source: string): string[] {
  const found: string[] = [];
  const letters = /\p{L}{2,}/u;
  const spoken = ["aria-label", "title", "placeholder", "alt", "label", "text", "hint", "help"];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (node.type === "Text" && letters.test(node.data ?? "")) found.push((node.data ?? "").trim());
    if (node.type === "Attribute") {
      if (!spoken.includes(node.name ?? "")) return;
      if (!Array.isArray(node.value)) return;
    }
    if (node.type === "StyleDirective") return;
    for (const [key, child] of Object.entries(node)) {
      if (!["css", "instance", "module", "expression", "metadata"].includes(key)) walk(child);
    }
  };
  walk(parse(source, { modern: true }).fragment);
  // The name of the program is the same in every language.
  return found.filter((text) => text !== "OpenSpace");
}

describe("markup", () => {
  const root = new URL("../", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".svelte"),
  );

  /** No sentence is written into a component. */
  it.each(files)("%s has no words of its own", (file) => {
    expect(literals(readFileSync(new URL(file, root), "utf8"))).toEqual([]);
  });

  /** The check itself finds words. */
  it("would be caught", () => {
    expect(literals("<p>Hello there</p>")).toEqual(["Hello there"]);
    expect(literals('<button aria-label="Close it">×</button>')).toEqual(["Close it"]);
    expect(literals("<p>{t('a.b')} · {x}</p>")).toEqual([]);
  });

  /** Nothing needs a laxer policy than ours: no inline styles, no blurred backdrops. */
  it.each(files)("%s obeys the policy", (file) => {
    const source = readFileSync(new URL(file, root), "utf8");
    expect(source).not.toMatch(/\sstyle="/);
    expect(source).not.toMatch(/backdrop-filter/);
    expect(source).not.toMatch(/\{@html/);
  });
});
