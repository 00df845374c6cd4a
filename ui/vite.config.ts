import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { OTHERS } from "./scripts/sentences.mjs";

/** Leaves sentences of other surfaces out of what the pages load: they share one catalogue. */
const sentencesOfPages = {
  name: "sentences-of-pages",
  apply: "build" as const,
  enforce: "pre" as const,
  transform(code: string, id: string) {
    if (!/\/messages\/[\w-]+\.json$/.test(id)) return null;
    const all = Object.entries(JSON.parse(code) as Record<string, string>);
    const said = all.filter(([key]) => !OTHERS.includes(key.split(".")[0] ?? ""));
    return { code: JSON.stringify(Object.fromEntries(said)), map: null };
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
