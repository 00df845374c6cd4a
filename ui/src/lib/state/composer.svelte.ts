import { rpc, type PreflightProblem, type Request } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { base64, unfit } from "../pictures";
import { program } from "./program.svelte";

/** Back ends that can be offered to a run. */
export const BACKENDS = ["shell", "gui"] as const;
export type BackendChoice = (typeof BACKENDS)[number];
/** How much is asked; empty follows the settings. */
export const PRESETS = ["", "ask-always", "ask-risky", "hands-off"] as const;

/** Limits of steps that are offered. */
export const LIMITS = [10, 20, 50, 100, 200] as const;

/** A picture that was not attached, and why. */
export interface Refused {
  name: string;
  why: "kind" | "large" | Failure;
}

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
  refused: readonly Refused[] = $state.raw([]);
  /** Pictures are on their way to the core. */
  adding = $state(false);

  #added: Promise<void> = Promise.resolve();
  #loaded = false;
  /** What was written or chosen in this window. */
  #mine: Partial<Draft> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The same request sent twice is one run; another one is another. */
  #asked = { request: "", key: "" };

  async load(): Promise<void> {
    if (this.#loaded) return;
    this.#loaded = true;
    try {
      const { value } = await rpc("ui_state_get", { key: KEY });
      const kept = value as Partial<Draft> | null;
      // What was done while this was on its way counts more.
      if (kept) this.draft = { ...PLAIN, ...kept, ...this.#mine };
    } catch {
      this.#loaded = false;
    }
  }

  /** The draft changed: nothing that was found out about it holds any more. */
  changed(change: Partial<Draft> = {}): void {
    Object.assign(this.draft, change);
    const { task } = this.draft;
    this.#mine = { ...this.#mine, ...change, ...(task ? { task } : {}) };
    this.problems = [];
    this.failure = null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#keep(), REST);
  }

  /** A back end is offered to the run. */
  offers(name: BackendChoice): boolean {
    return (this.draft.backends ?? BACKENDS).includes(name);
  }

  /** Offers a back end or does not; one always stays. */
  toggle(name: BackendChoice): void {
    const next = BACKENDS.filter((other) => (other === name) !== this.offers(other));
    if (next.length > 0) this.changed({ backends: next.length === BACKENDS.length ? null : next });
  }

  attach(paths: readonly string[]): void {
    const fresh = paths.filter((path) => path && !this.draft.attachments.includes(path));
    this.changed({ attachments: [...this.draft.attachments, ...fresh] });
  }

  detach(path: string): void {
    this.changed({ attachments: this.draft.attachments.filter((other) => other !== path) });
    // What is left behind goes away by its age.
    if (keptName(path)) void rpc("attachment_remove", { path }).catch(() => undefined);
  }

  /** Hands pictures that are no files of this machine to the core, and attaches them. */
  addPictures(files: readonly File[]): Promise<void> {
    this.#added = this.#added.then(() => this.#add(files));
    return this.#added;
  }

  async #add(files: readonly File[]): Promise<void> {
    this.adding = true;
    this.refused = [];
    const refused: Refused[] = [];
    for (const file of files) {
      // What the clipboard holds has no name of its own.
      const plain = /^image\.\w+$/.test(file.name);
      const name = plain ? `picture-${this.draft.attachments.length + 1}` : file.name;
      const why = unfit(file);
      if (why) {
        refused.push({ name: file.name, why });
        continue;
      }
      try {
        const { path } = await rpc("attachment_add", { name, data: await base64(file) });
        this.attach([path]);
      } catch (thrown) {
        refused.push({ name: file.name, why: failureOf(thrown) });
      }
    }
    this.refused = refused;
    this.adding = false;
  }

  /** Starts the run unless something is missing; answers its id. */
  async start(): Promise<string | null> {
    if (this.starting) return null;
    this.starting = true;
    this.failure = null;
    try {
      await this.#added;
      const request = this.#request();
      const { problems } = await rpc("run_preflight", request);
      if (problems.some((problem) => problem.blocks)) {
        this.problems = problems;
        return null;
      }
      const { run } = await rpc("run_start", request);
      this.#asked = { request: "", key: "" };
      this.refused = [];
      // What was written or attached meanwhile is the next task.
      const { task, attachments } = this.draft;
      this.changed({
        task: task === request.task ? "" : task,
        attachments: attachments.filter((path) => !request.attachments.includes(path)),
      });
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
    const request = {
      task,
      ...(model ? { model } : {}),
      ...(backends ? { backends: [...backends] } : {}),
      ...(folder ? { workspace: folder } : {}),
      ...(steps === null ? {} : { limits: { steps, minutes: null, tokens: null, dollars: null } }),
      ...(preset ? { preset } : {}),
      ...(this.draft.private ? { display: "private" } : {}),
      allow: [],
      attachments: [...attachments],
    };
    const asked = JSON.stringify(request);
    if (this.#asked.request !== asked) this.#asked = { request: asked, key: crypto.randomUUID() };
    return { ...request, idempotencyKey: this.#asked.key };
  }

  async #keep(): Promise<void> {
    try {
      await rpc("ui_state_set", { key: KEY, value: $state.snapshot(this.draft) });
    } catch {
      // It is tried again with the next letter.
    }
  }
}

/** The name of a picture that the core keeps for a task; none for a file of the person's. */
export function keptName(path: string): string | null {
  const data = program.state?.data;
  if (!data || !path.startsWith(data)) return null;
  return /^[/\\]attachments[/\\][^/\\]+[/\\]([^/\\]+)$/.exec(path.slice(data.length))?.[1] ?? null;
}

export const composer = new Composer();
