/** A short note that goes away by itself. Never the only place where an error is told. */
export interface Toast {
  id: number;
  text: string;
  tone: "neutral" | "ok" | "warn" | "danger";
  action?: { label: string; run: () => void };
}

const LONGEST = 6_000;
const MOST = 3;

class Toasts {
  list: Toast[] = $state([]);
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  #next = 1;

  show(
    text: string,
    options: Partial<Pick<Toast, "tone" | "action">> & { for?: number } = {},
  ): number {
    const id = this.#next++;
    const { tone = "neutral", action, for: milliseconds = LONGEST } = options;
    const toast: Toast = action ? { id, text, tone, action } : { id, text, tone };
    this.list = [...this.list, toast].slice(-MOST);
    this.#arm(id, milliseconds);
    return id;
  }

  close(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** While the pointer or the focus is on them nothing goes away. */
  hold(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
  }

  release(): void {
    this.list.forEach((toast) => this.#arm(toast.id, LONGEST));
  }

  #arm(id: number, milliseconds: number): void {
    this.#timers.set(
      id,
      setTimeout(() => this.close(id), milliseconds),
    );
  }
}

export const toasts = new Toasts();
