import { speaker } from "../i18n.svelte";
import { count, money, took } from "../format";
import type { RunSummary } from "../api";
import type { Reason, Used } from "./payloads";

/** What a run took, as far as it matters for its limits. */
export interface Taken {
  steps: number;
  milliseconds: number;
  tokens: number;
  dollars: number | null;
}

/** What the row of a run says that it took. */
export function usedBy(run: RunSummary): Taken {
  return {
    steps: run.step,
    milliseconds: (run.endedAt ?? run.createdAt) - (run.startedAt ?? run.createdAt),
    tokens: run.usage.total,
    dollars: run.usage.dollars,
  };
}

/** What the run itself reported that it took. */
export function taken(used: Used | null): Taken | null {
  if (!used) return null;
  const { input, output, cache_read, cache_write } = used.usage;
  return {
    steps: used.steps,
    milliseconds: used.activeMs,
    tokens: input + output + cache_read + cache_write,
    dollars: used.cost,
  };
}

const MOST = 120;

/** A value on one line of at most 120 characters, as the Rust side shortens it. */
export function short(value: unknown): string {
  let text: string;
  if (typeof value === "string") text = value;
  else if (Array.isArray(value) && value.every((item) => typeof item === "number"))
    text = value.join(", ");
  else text = JSON.stringify(value) ?? "";
  const characters = [...text.replaceAll("\n", "⏎")];
  return characters.length > MOST
    ? `${characters.slice(0, MOST - 1).join("")}…`
    : characters.join("");
}

/** One line about a call: what it does, with the arguments that matter. */
export function callLine(tool: string, input: Record<string, unknown>): string {
  const action = typeof input.action === "string" ? `tool.${tool}.${input.action}` : "";
  const key = [action, `tool.${tool}`].find((key) => speaker.has(key)) ?? "tool.other";
  const values: Record<string, string> = { tool };
  for (const [name, value] of Object.entries(input)) values[name] = short(value);
  // Always there, because it chooses the number, and nothing the model calls `count` takes its place.
  values.count = String(Array.isArray(input.actions) ? input.actions.length : 0);
  return speaker.say(key, values);
}

/** Why a run has its status; empty where the status says it all. */
export function reasonText(reason: Reason | null, used: Taken | null): string {
  if (!reason) return "";
  if (reason.kind === "paused") return speaker.say(`reason.paused.${String(reason.pause)}`);
  if (reason.kind === "limit") {
    return speaker.say(`reason.limit.${String(reason.limit)}`, { used: limitUsed(reason, used) });
  }
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(reason)) values[name] = String(value);
  if (values.actions !== undefined) values.count = values.actions;
  return speaker.say(`reason.${reason.kind}`, values);
}

function limitUsed(reason: Reason, used: Taken | null): string {
  if (!used) return "…";
  switch (reason.limit) {
    case "steps":
      return count(used.steps);
    case "time":
      return took(used.milliseconds);
    case "tokens":
      return count(used.tokens);
    default:
      return used.dollars === null ? "…" : money(used.dollars);
  }
}
