import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { groupOf, LATER, OTHERS } from "./scripts/sentences.mjs";

/**
 * Leaves sentences of other surfaces out of what the pages load, as they share one catalogue, and parts
 * what the first page says from what comes after it, with `?later`.
 */
const sentencesOfPages = {
  name: "sentences-of-pages",
  enforce: "pre" as const,
  transform(this: { environment: { mode: string } }, code: string, id: string) {
    const part = /\/messages\/[\w-]+\.json(\?.*\blater\b)?$/.exec(id);
    if (!part) return null;
    const later = part[1] !== undefined;
    // Where nothing is built the first part is whole, and the other one says the same again.
    const built = this.environment.mode === "build";
    if (!later && !built) return null;
    const all = Object.entries(JSON.parse(code) as Record<string, string>);
    const said = all.filter(([key]) => {
      const group = groupOf(key);
      return !OTHERS.includes(group) && LATER.includes(group) === later;
    });
    const kept = JSON.stringify(Object.fromEntries(said));
    // Only what ends with `.json` is read as such.
    return later
      ? { code: `export default ${kept}`, moduleType: "js" as const, map: null }
      : { code: kept, map: null };
  },
};

export default defineConfig({
  plugins: [sentencesOfPages, svelte()],
  build: {
    target: "safari16",
    outDir: "dist",
    manifest: true,
    modulePreload: { polyfill: false },
    // Pictures stay files: only what the content security policy names may be inlined.
    assetsInlineLimit: 0,
  },
  server: { port: 5173, strictPort: true, host: "127.0.0.1" },
  test: {
    reporters: ["default", "./scripts/plain-reporter.ts"],
    projects: [
      {
        extends: true,
        test: { name: "unit", environment: "node", include: ["src/**/*.test.ts"] },
      },
      {
        extends: true,
        resolve: { conditions: ["browser"] },
        test: {
          name: "dom",
          environment: "jsdom",
          include: ["src/**/*.dom-test.ts"],
          setupFiles: ["./tests/setup.ts"],
          testTimeout: 30_000,
        },
      },
    ],
  },
});
