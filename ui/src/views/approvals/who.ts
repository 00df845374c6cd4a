import { speaker } from "../../lib/i18n.svelte";

/** Which surface did something: `app`, `page`, `terminal`, `settings`. */
export function whoText(by: string): string {
  const key = `ui.who.${by}`;
  return speaker.has(key) ? speaker.say(key) : speaker.say("ui.who.by", { name: by });
}
