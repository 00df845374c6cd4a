import { say, speaker, type MessageKey } from "../../lib/i18n.svelte";
import type { Finding } from "./checks.svelte";

/** What was found, in the language of the window. */
export function foundText(finding: Finding): string {
  return finding.found.map(say).join(" · ");
}

/** A finding as it is copied. */
export function findingText(finding: Finding): string {
  const { id, health, detail, fix } = finding;
  const lines = [`${id}: ${health}`, foundText(finding), detail, fix && say(fix)];
  return lines.filter(Boolean).join("\n  ");
}

/** In a word how it came out. */
export function stateOf({ health, found }: Finding): MessageKey {
  // What was not tried is neither there nor missing.
  const untried = found.some(({ key }) => key.endsWith(".untried"));
  return untried ? "ui.diag.state.untried" : `ui.diag.state.${health}`;
}

/** What a check or a finding is called. */
export function checkName(id: string): string {
  const key = `ui.check.${id}`;
  return speaker.has(key) ? speaker.say(key) : id;
}

/** The section of the settings where what a check is about is changed. */
export function sectionOf(check: string): string | null {
  const sections: Record<string, string> = {
    model: "models",
    keys: "models",
    screen: "permissions",
    hotkeys: "hotkeys",
    mcp: "agents",
    graphics: "appearance",
    settings: "general",
  };
  return sections[check] ?? null;
}
