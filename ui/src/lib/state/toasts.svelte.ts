/** A short note that goes away by itself. Never the only place where an error is told. */
export interface Toast {
  id: number;
  text: string;
  tone: "neutral" | "ok" | "warn" | "danger";
  action?: { label: string; run: () => void };
}

interface Options extends Partial<Pick<Toast, "tone" | "action">> {
  /** How long it stays, milliseconds. */
  for?: number;
  /** It went away, by itself or by a press. */
  onend?: () => void;
}

/** What is left of a toast's time. */
interface Rest {
  milliseconds: number;
  since: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  onend: (() => void) | undefined;
}

const LONGEST = 6_000;
const MOST = 3;

class Toasts {
  list: Toast[] = $state([]);
  readonly #rests = new Map<number, Rest>();
  #held = false;
  #next = 1;

  show(text: string, options: Options = {}): number {
    const id = this.#next++;
    const { tone = "neutral", action, for: milliseconds = LONGEST, onend } = options;
    const toast: Toast = action ? { id, text, tone, action } : { id, text, tone };
    this.#rests.set(id, { milliseconds, since: 0, timer: undefined, onend });
    if (!this.#held) this.#arm(id);
    this.list = [...this.list, toast];
    this.list.slice(0, -MOST).forEach(({ id }) => this.close(id));
    return id;
  }

  close(id: number): void {
    const rest = this.#rests.get(id);
    clearTimeout(rest?.timer);
    this.#rests.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
    rest?.onend?.();
  }

  /** While the pointer or the focus is on them nothing goes away; afterwards each has what was left of its time. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    for (const [id, rest] of this.#rests) {
      if (held) {
        clearTimeout(rest.timer);
        rest.milliseconds -= performance.now() - rest.since;
      } else this.#arm(id);
    }
  }

  #arm(id: number): void {
    const rest = this.#rests.get(id);
    if (!rest) return;
    rest.since = performance.now();
    rest.timer = setTimeout(() => this.close(id), rest.milliseconds);
  }
}

export const toasts = new Toasts();
