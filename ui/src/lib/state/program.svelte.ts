import { rpc, type AppState } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { speaker, languageOf, type Language } from "../i18n.svelte";
import { events } from "./events.svelte";

/** What the program is and where it stands. */
class Program {
  state: AppState | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);

  /** Asks once; the window begins with the answer. */
  async load(): Promise<void> {
    try {
      const state = await rpc("app_state", {});
      const language: Language = state.language === "zh-Hans" ? "zh-Hans" : "en";
      // Before anybody hears of it, so that nothing is said in another language first.
      if (speaker.speech !== "pseudo" && language !== speaker.speech) await speaker.speak(language);
      this.state = state;
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
    }
  }

  /** Keeps it true until the returned function is called. */
  start(): () => void {
    const stops = [
      events.on("settings", () => void this.load()),
      events.onReset(() => void this.load()),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** The language before the program has said which one it is. */
  static firstLanguage(): Language {
    return languageOf(navigator.language);
  }
}

export const program = new Program();
export const firstLanguage = Program.firstLanguage;
