import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte()],
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
