// Fails when the window would load more before its first paint than it may (gzip, kilobytes of 1000).
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMITS = { first: 120, scripts: 350, styles: 25 };
const dist = new URL("../dist/", import.meta.url);
const size = (file) => gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length / 1000;
const sum = (files) => [...files].reduce((total, file) => total + size(file), 0);

/** What the built pages weigh: scripts before the first paint, all scripts, all styles. */
export function sizes() {
  const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8"));
  const first = new Set();
  function load(key) {
    const entry = manifest[key];
    if (!entry || first.has(entry.file)) return;
    first.add(entry.file);
    entry.imports?.forEach(load);
  }
  load("index.html");
  // The sentences of one language come before the first paint too.
  load("messages/en.json");
  const assets = readdirSync(new URL("assets/", dist)).map((file) => `assets/${file}`);
  return {
    first: sum([...first].filter((file) => file.endsWith(".js"))),
    scripts: sum(assets.filter((file) => file.endsWith(".js"))),
    styles: sum(assets.filter((file) => file.endsWith(".css"))),
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const found = sizes();
  for (const [name, limit] of Object.entries(LIMITS)) {
    const over = found[name] > limit;
    if (over) process.exitCode = 1;
    console.log(`${name}: ${found[name].toFixed(1)} of ${limit} kB${over ? " TOO MUCH" : ""}`);
  }
}
