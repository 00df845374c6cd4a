import { rpc, type Response } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { failureTitle } from "../../lib/failure";
import { speaker } from "../../lib/i18n.svelte";
import { events } from "../../lib/state/events.svelte";

export type Keys = Response<"keys_list">;
export type Key = Keys["keys"][number];

/** The keys, of which nothing but the ending is ever known here. */
export class KeyList {
  list: Keys | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);

  /** No keychain can be had, and none of the other ways was chosen yet. */
  readonly noKeychain = $derived(
    this.list?.problem?.code === "credentials" && !this.list.needsPassphrase,
  );

  start(): () => void {
    void this.load();
    const stops = [
      events.on("keys", () => void this.load()),
      events.onReset(() => void this.load()),
    ];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    try {
      this.list = await rpc("keys_list", {});
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
    }
  }
}

/** Why the kept keys could not be opened. */
export function whyClosed(failure: Failure): string {
  const key = `ui.keys.why.${failure.params?.reason ?? ""}`;
  return speaker.has(key) ? speaker.say(key) : failureTitle(failure);
}

/** Whether a failure means that there is no keychain to keep a key in. */
export function lacksKeychain(failure: Failure): boolean {
  return /^(no_session_bus|no_secret_service|keychain_)/.test(failure.params?.reason ?? "");
}
