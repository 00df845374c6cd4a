import { expect, it } from "vitest";
import { href, parse, type Route } from "./router.svelte";

const routes: Route[] = [
  { name: "tasks" },
  { name: "tasks", compose: true },
  { name: "run", id: "trvc8xf11y" },
  { name: "run", id: "a/b c", step: 12 },
  { name: "approvals" },
  { name: "approvals", id: "x" },
  { name: "insights" },
  { name: "hosts" },
  { name: "hosts", id: "codex" },
  { name: "hosts", id: "codex", file: "/a b/.codex/config.toml?x=1&y" },
  { name: "hosts", id: "codex", act: "register" },
  { name: "hosts", id: "codex", file: "/a&b", act: "test" },
  { name: "diagnostics" },
  { name: "settings", section: "models" },
  { name: "settings", section: "safety", row: "policy.preset" },
  { name: "welcome", step: "safety" },
];

/** Every page has an address that leads back to it. */
it.each(routes)("goes to $name and back", (route) => {
  expect(parse(href(route))).toEqual(route);
});

/** Unknown and broken addresses lead somewhere that says so. */
it("survives odd addresses", () => {
  expect(parse("")).toEqual({ name: "tasks" });
  expect(parse("#/nowhere/at/all")).toEqual({ name: "missing", address: "/nowhere/at/all" });
  expect(parse("#/runs/%E0%A4%A")).toEqual({ name: "run", id: "%E0%A4%A" });
  expect(parse("#/runs/x?step=abc")).toEqual({ name: "run", id: "x" });
});
