import { rpc, type Response } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";

export type Entry = Response<"logs_read">["entries"][number];
export type Level = Entry["level"];

/** From the most to the least important. */
export const LEVELS: readonly Level[] = ["error", "warn", "info", "debug", "trace"];

/** How often the logs are read again while they are followed, milliseconds. */
const AGAIN = 1_000;

/** The ends of our logs, filtered, and read again while they are followed. */
export class Logs {
  source = $state("");
  level: Level = $state("info");
  search = $state("");
  following = $state(false);
  sources: readonly string[] = $state.raw([]);
  entries: readonly Entry[] = $state.raw([]);
  more = $state(false);
  loaded = $state(false);
  failure: Failure | null = $state.raw(null);

  #round = 0;

  /** Reads them once, as the filters are now; of several reads the last one counts. */
  async read(): Promise<void> {
    const round = ++this.#round;
    const request = { source: this.source || null, level: this.level, search: this.search };
    try {
      const { sources, entries, more } = await rpc("logs_read", request);
      if (round !== this.#round) return;
      Object.assign(this, { sources, entries, more, failure: null, loaded: true });
    } catch (thrown) {
      if (round === this.#round) this.failure = failureOf(thrown);
    }
  }

  /** Reads again and again until what it returns is called. */
  follow(): () => void {
    let going = true;
    let timer: ReturnType<typeof setTimeout>;
    const again = async () => {
      await this.read();
      if (going) timer = setTimeout(() => void again(), AGAIN);
    };
    void again();
    return () => {
      going = false;
      clearTimeout(timer);
    };
  }
}
