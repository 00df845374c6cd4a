import type { Failure } from "./backend/backend";
import { speaker } from "./i18n.svelte";

/** What a failure means, in the language of the window. */
export function failureTitle(failure: Failure): string {
  const key = `ui.failure.${failure.code}`;
  return speaker.has(key) ? speaker.say(key, failure.params ?? {}) : failure.message;
}
