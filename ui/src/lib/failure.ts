import type { Failure } from "./backend/backend";
import { speaker } from "./i18n.svelte";

/** What a failure means, in the language of the window. */
export function failureTitle(failure: Failure): string {
  const key = `ui.failure.${failure.code}`;
  return speaker.has(key) ? speaker.say(key, failure.params ?? {}) : failure.message;
}

/** What was not done, and why. A stop that takes its time is done all the same. */
export function notDone(what: string, failure: Failure): string {
  const why = failureTitle(failure);
  return failure.code === "still_stopping" ? why : `${what} ${why}`;
}

/**
 * What a person at a window can do about it, where that follows from the failure alone. What the core
 * advises is for the command line, and in English.
 */
export function failureAdvice(failure: Failure): string | null {
  const key = `ui.failure.${failure.code}.do`;
  return speaker.has(key) ? speaker.say(key, failure.params ?? {}) : null;
}
