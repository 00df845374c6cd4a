import { defineConfig } from "vitest/config";

// The built window in the engine of Linux's web views before the real core: `npm run build` and
// `cargo build` first.
export default defineConfig({
  test: {
    include: ["tests/webkit/**/*.webkit-test.ts"],
    reporters: ["default", "./scripts/plain-reporter.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
