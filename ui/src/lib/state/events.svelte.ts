import { backend } from "../api";
import type { StoredEvent } from "../backend/backend";

/** Hears events of one topic, in batches. */
export type Listener = (batch: StoredEvent[]) => void;

/** How long events gather: a window that draws more often than this shows nothing more. */
const GATHER = 50;

/** The one line to the core: events come in, batches go out to whoever listens. */
class Events {
  /** Whether the core can be reached. */
  connection: "connecting" | "connected" | "lost" | "expired" = $state("connecting");
  /** Since when it cannot be reached, Unix milliseconds. */
  lostSince: number | null = $state(null);

  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #resets = new Set<() => void>();
  #waiting: StoredEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Listens from a cursor on, until the returned function is called. */
  start(after: number): () => void {
    return backend().subscribe(after, {
      events: (batch) => {
        this.#waiting.push(...batch);
        this.#timer ??= setTimeout(() => this.#flush(), GATHER);
      },
      state: (state) => {
        if (state === "lost") this.away();
        else if (state === "expired") this.expire();
        else this.#connected();
      },
      reset: () => this.#reset(),
    });
  }

  /** The core does not answer. */
  away(): void {
    this.lostSince ??= Date.now();
    this.connection = "lost";
  }

  /** The core answers and does not know this page: only a new address helps. */
  expire(): void {
    this.lostSince = null;
    this.connection = "expired";
  }

  #connected(): void {
    const lost = this.connection === "lost";
    this.lostSince = null;
    this.connection = "connected";
    // What was asked for before contact was lost, or after it, may never have been answered, and no
    // event comes twice.
    if (lost) this.#reset();
  }

  #reset(): void {
    this.#resets.forEach((reset) => reset());
  }

  /** Hears events of a topic until the returned function is called. */
  on(topic: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Called when events or answers may be missing: ask for snapshots again. */
  onReset(reset: () => void): () => void {
    this.#resets.add(reset);
    return () => this.#resets.delete(reset);
  }

  #flush(): void {
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = [];
    const topics = new Map<string, StoredEvent[]>();
    for (const event of batch) {
      const of = topics.get(event.topic) ?? [];
      topics.set(event.topic, of);
      of.push(event);
    }
    for (const [topic, events] of topics) {
      this.#listeners.get(topic)?.forEach((listener) => listener(events));
    }
  }
}

export const events = new Events();
