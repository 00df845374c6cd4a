import { rpc, type Response } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { problems } from "../../lib/state/problems.svelte";

export type Finding = Response<"check_run">["findings"][number];
export type Health = Finding["health"];

/** One check: what it is called, and what it found once it was made. */
export interface Line {
  check: string;
  state: "waiting" | "running" | "done";
  findings: readonly Finding[];
  milliseconds: number;
  failure: Failure | null;
}

/** How many checks run side by side: some start programs. */
const AT_ONCE = 3;

/** Checks after which the system might ask something, or that start a display: only where they are seen. */
const SEEN: readonly string[] = ["model", "keys", "screen", "private_display", "input"];

/** The checks, made one by one and shown as they come in. */
export class Checks {
  lines: readonly Line[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);

  readonly done = $derived(this.lines.filter((line) => line.state === "done").length);
  readonly busy = $derived(this.done < this.lines.length);

  #round = 0;

  count(health: Health): number {
    const of = (line: Line) =>
      line.findings.filter((finding) => finding.health === health).length +
      (health === "problem" && line.failure ? 1 : 0);
    return this.lines.reduce((sum, line) => sum + of(line), 0);
  }

  /** Makes all of them again; quietly, only those that nobody notices. */
  async run({ quietly = false } = {}): Promise<void> {
    const round = ++this.#round;
    this.failure = null;
    let names: readonly string[];
    try {
      const { checks } = await rpc("checks_list", {});
      names = quietly ? checks.filter((check) => !SEEN.includes(check)) : checks;
    } catch (thrown) {
      this.failure = failureOf(thrown);
      return;
    }
    if (round !== this.#round) return;
    this.lines = names.map((check) => ({
      check,
      state: "waiting",
      findings: [],
      milliseconds: 0,
      failure: null,
    }));
    const waiting = [...names];
    const work = async () => {
      for (;;) {
        const check = waiting.shift();
        if (check === undefined || round !== this.#round) return;
        await this.one(check);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** Makes one of them. */
  async one(check: string, askModel = false): Promise<void> {
    this.#set(check, { state: "running", findings: [], failure: null });
    try {
      const { findings, milliseconds } = await rpc("check_run", { check, askModel });
      this.#set(check, { state: "done", findings, milliseconds });
    } catch (thrown) {
      this.#set(check, { state: "done", failure: failureOf(thrown) });
    }
  }

  /** Tries a click, which takes the mouse for a moment: only because a person asked. */
  async click(): Promise<void> {
    const check = "input";
    this.#set(check, { state: "running", findings: [], failure: null });
    try {
      const { findings, milliseconds } = await rpc("click_test", {});
      this.#set(check, { state: "done", findings, milliseconds });
    } catch (thrown) {
      this.#set(check, { state: "done", failure: failureOf(thrown) });
    }
  }

  #set(check: string, change: Partial<Line>): void {
    this.lines = this.lines.map((line) => (line.check === check ? { ...line, ...change } : line));
    if (!this.busy) problems.count = this.count("problem");
  }
}
