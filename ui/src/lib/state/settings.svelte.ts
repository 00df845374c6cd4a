import { rpc, type Response } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { read, type Value } from "../toml";
import { t } from "../i18n.svelte";
import { events } from "./events.svelte";
import { toasts } from "./toasts.svelte";

export type SettingView = Response<"settings_list">["settings"][number];

/** The settings, as the core says they are. */
class Settings {
  list: readonly SettingView[] = $state.raw([]);
  /** What is wrong with the file; until it is mended the settings from before apply. */
  wrong: string | null = $state(null);
  failure: Failure | null = $state.raw(null);
  loading = $state(true);
  /** Why the last change of a setting was refused, by its name. */
  refused: Readonly<Record<string, Failure>> = $state.raw({});

  readonly #byKey = $derived(new Map(this.list.map((setting) => [setting.key, setting])));

  /** Loads them and keeps them true until the returned function is called. */
  start(): () => void {
    void this.load();
    const stops = [
      events.on("settings", () => void this.load()),
      events.onReset(() => void this.load()),
    ];
    // The file can be changed by any program, which tells nobody.
    const look = () => void this.load();
    addEventListener("focus", look);
    return () => {
      removeEventListener("focus", look);
      stops.forEach((stop) => stop());
    };
  }

  async load(): Promise<void> {
    try {
      const { settings, wrong } = await rpc("settings_list", {});
      this.list = settings;
      this.wrong = wrong;
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
    } finally {
      this.loading = false;
    }
  }

  get(key: string): SettingView | undefined {
    return this.#byKey.get(key);
  }

  value(key: string): Value {
    return read(this.get(key)?.value ?? null);
  }

  /** Changes a setting at once and offers to take that back; null goes back to the default. */
  async change(key: string, value: string | null, name: string): Promise<boolean> {
    const before = this.get(key);
    if (!(await this.#write(key, value))) return false;
    const was = before?.origin === "file" ? asTyped(before.value) : null;
    toasts.show(t("ui.settings.changed", { name }), {
      action: { label: t("ui.undo"), run: () => void this.#write(key, was) },
    });
    return true;
  }

  async #write(key: string, value: string | null): Promise<boolean> {
    const { [key]: _, ...others } = this.refused;
    try {
      const now = await rpc("setting_set", { key, value });
      this.list = this.list.map((setting) => (setting.key === key ? now : setting));
      this.refused = others;
      return true;
    } catch (thrown) {
      this.refused = { ...others, [key]: failureOf(thrown) };
      return false;
    }
  }
}

/** A value as a person would type it: a text without its quotes. */
function asTyped(toml: string | null): string | null {
  const value = read(toml);
  return typeof value === "string" ? value : toml;
}

export const settings = new Settings();
