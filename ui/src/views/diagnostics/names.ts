import { speaker } from "../../lib/i18n.svelte";

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
    settings: "general",
  };
  return sections[check] ?? null;
}
