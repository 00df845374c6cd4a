import { rpc, type PreflightProblem, type Request } from "../api";
import { failureOf, type Failure } from "../backend/backend";

/** Back ends that can be offered to a run. */
export const BACKENDS = ["shell", "gui"] as const;
export type BackendChoice = (typeof BACKENDS)[number];
/** How much is asked; empty follows the settings. */
export const PRESETS = ["", "ask-always", "ask-risky", "hands-off"] as const;

/** What is written but not started. */
export interface Draft {
  task: string;
  folder: string;
  attachments: string[];
  backends: BackendChoice[] | null;
  preset: string;
  model: string;
  steps: number | null;
  /** On a display of its own, so that the person keeps the mouse. */
  private: boolean;
}

const KEY = "composer";
const PLAIN: Draft = {
  task: "",
  folder: "",
  attachments: [],
  backends: null,
  preset: "",
  model: "",
  steps: null,
  private: false,
};
/** How long typing rests before the draft is kept. */
const REST = 400;

/** The field for a new task. Its draft outlives the window. */
class Composer {
  draft: Draft = $state({ ...PLAIN });
  problems: readonly PreflightProblem[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  starting = $state(false);

  #loaded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The same request sent twice is one run. */
  #key = crypto.randomUUID();

  async load(): Promise<void> {
    if (this.#loaded) return;
    this.#loaded = true;
    try {
      const { value } = await rpc("ui_state_get", { key: KEY });
      const kept = value as Partial<Draft> | null;
      // What was typed while this was on its way counts more.
      if (kept && this.draft.task === "") this.draft = { ...PLAIN, ...kept };
    } catch {
      this.#loaded = false;
    }
  }

  /** The draft changed: nothing that was found out about it holds any more. */
  changed(change: Partial<Draft> = {}): void {
    Object.assign(this.draft, change);
    this.problems = [];
    this.failure = null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#keep(), REST);
  }

  /** Starts the run unless something is missing; answers its id. */
  async start(): Promise<string | null> {
    if (this.starting) return null;
    this.starting = true;
    this.failure = null;
    try {
      const request = this.#request();
      const { problems } = await rpc("run_preflight", request);
      if (problems.some((problem) => problem.blocks)) {
        this.problems = problems;
        return null;
      }
      const { run } = await rpc("run_start", request);
      this.#key = crypto.randomUUID();
      this.changed({ task: "", attachments: [] });
      return run;
    } catch (thrown) {
      this.failure = failureOf(thrown);
      return null;
    } finally {
      this.starting = false;
    }
  }

  #request(): Request<"run_start"> {
    const { task, folder, attachments, backends, preset, model, steps } = this.draft;
    return {
      task,
      ...(model ? { model } : {}),
      ...(backends ? { backends: [...backends] } : {}),
      ...(folder ? { workspace: folder } : {}),
      ...(steps === null ? {} : { limits: { steps, minutes: null, tokens: null, dollars: null } }),
      ...(preset ? { preset } : {}),
      ...(this.draft.private ? { display: "private" } : {}),
      allow: [],
      attachments: [...attachments],
      idempotencyKey: this.#key,
    };
  }

  async #keep(): Promise<void> {
    try {
      await rpc("ui_state_set", { key: KEY, value: $state.snapshot(this.draft) });
    } catch {
      // It is tried again with the next letter.
    }
  }
}

export const composer = new Composer();
