// Measures the pages in Chromium and WebKitGTK, a line of JSON for each figure; see tests/measure.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const { module } = await runnerImport(
  fileURLToPath(new URL("../tests/measure/measure.ts", import.meta.url)),
  { configFile: false, logLevel: "error" },
);
await module.measure(process.argv.includes("--quick"));
