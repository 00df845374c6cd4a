import { defineConfig } from "vitest/config";

// The built window in a real browser before the real core: `npm run build` and `cargo build` first.
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.browser-test.ts"],
    reporters: ["default", "./scripts/plain-reporter.ts"],
    // Each file has a core and a browser of its own, and waits for them most of the time.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
