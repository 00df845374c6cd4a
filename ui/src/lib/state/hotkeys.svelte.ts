import { rpc, type Response } from "../api";
import { events } from "./events.svelte";

export type Hotkey = Response<"hotkeys_list">["hotkeys"][number];

/** The keys that work whatever has the focus, as the app has them. */
class Hotkeys {
  list: readonly Hotkey[] = $state.raw([]);
  /** They are known, or cannot be. */
  loading = $state(true);

  get(name: string): Hotkey | undefined {
    return this.list.find((hotkey) => hotkey.name === name);
  }

  /** Keeps the list true until the returned function is called. */
  start(): () => void {
    const load = () => void this.load();
    load();
    const stops = [events.on("hotkeys", load), events.on("settings", load), events.onReset(load)];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    try {
      this.list = (await rpc("hotkeys_list", {})).hotkeys;
    } catch {
      // What was known stays; that the core is away is told elsewhere.
    } finally {
      this.loading = false;
    }
  }
}

export const hotkeys = new Hotkeys();
