import { rpc } from "../api";
import { router } from "../router.svelte";

/** The steps of the first run, in their order. */
export const STEPS = ["welcome", "demo", "model", "permissions", "agents", "safety"] as const;
export type Step = (typeof STEPS)[number];

const KEY = "welcome";

/** What is kept of the first steps, so that a restart lands on the same one. */
interface Kept {
  step: Step;
  /** Steps that were gone through rather than skipped. */
  done: readonly Step[];
  /** All of them were seen, or the person went elsewhere: they are not shown by themselves again. */
  over: boolean;
  /** The run of the demo that was started there. */
  demo: string | null;
}

const FIRST: Kept = { step: "welcome", done: [], over: false, demo: null };

/** Where somebody is in the first steps. */
class Welcome {
  kept: Kept = $state.raw(FIRST);
  #loaded = false;
  #saved: Promise<void> = Promise.resolve();

  /** Shows the first steps on an empty profile, or goes on with them where they were left. */
  async begin(): Promise<void> {
    try {
      const known = await this.load();
      if (this.kept.over || !atStart()) return;
      if (!known) {
        const { runs } = await rpc("runs_list", { statuses: [], limit: 1 });
        if (runs.length > 0) return;
      }
      // Somebody may have gone elsewhere meanwhile.
      if (atStart()) router.go({ name: "welcome", step: this.kept.step });
    } catch {
      // Without an answer from the core the window shows its first page, which says so.
    }
  }

  /** Reads what was kept, once; whether there was something. */
  async load(): Promise<boolean> {
    if (this.#loaded) return true;
    const { value } = await rpc("ui_state_get", { key: KEY });
    if (!isKept(value)) return false;
    this.#loaded = true;
    this.kept = value;
    return true;
  }

  set(change: Partial<Kept>): void {
    this.kept = { ...this.kept, ...change };
    this.#loaded = true;
    // One after the other: on two lines the older one could arrive last.
    const value = this.kept;
    this.#saved = this.#saved.then(async () => {
      await rpc("ui_state_set", { key: KEY, value }).catch(() => undefined);
    });
  }

  /** Notes that a step was gone through. */
  did(step: Step): void {
    if (!this.kept.done.includes(step)) this.set({ done: [...this.kept.done, step] });
  }
}

/** Nobody has asked for a page yet, the one that is shown without asking included. */
function atStart(): boolean {
  return ["", "#", "#/"].includes(location.hash);
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const kept = value as Partial<Kept>;
  return STEPS.some((step) => step === kept.step) && Array.isArray(kept.done);
}

export const welcome = new Welcome();
