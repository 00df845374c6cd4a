// Writes src/styles/tokens.css from tokens.json, which the contrast test reads too.
import { readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../src/styles/", import.meta.url);

export function render(tokens) {
  const block = (selector, values, extra = "") =>
    `${selector} {\n${extra}${Object.entries(values)
      .map(([name, value]) => `  --${name}: ${value};\n`)
      .join("")}}\n`;
  const scheme = (name) => `  color-scheme: ${name};\n`;
  const dark = block("  :root:not([data-theme])", tokens.dark, scheme("dark")).replace(
    /\n(?=.)/g,
    "\n  ",
  );
  return [
    "/* Written by scripts/tokens.mjs from tokens.json: change that file and run `npm run tokens`. */\n",
    block(":root", { ...tokens.fixed, ...tokens.light }, scheme("light")),
    block(':root[data-theme="dark"]', tokens.dark, scheme("dark")),
    `@media (prefers-color-scheme: dark) {\n${dark.replace(/^ {4}:root/m, "  :root")}}\n`,
    block(':root[data-contrast="high"]', tokens["high-light"]),
    block(':root[data-theme="dark"][data-contrast="high"]', tokens["high-dark"]),
  ].join("\n");
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const tokens = JSON.parse(readFileSync(new URL("tokens.json", folder), "utf8"));
  writeFileSync(new URL("tokens.css", folder), render(tokens));
}
