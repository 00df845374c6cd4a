import { failureOf } from "../../lib/backend/backend";
import { notDone } from "../../lib/failure";
import { t, type MessageKey } from "../../lib/i18n.svelte";
import type { OpenRun } from "../../lib/state/run.svelte";
import { toasts } from "../../lib/state/toasts.svelte";

/** What a person can tell a run, with what is shown while it is on its way. */
export class RunActions {
  /** What was asked for and is not reported yet. */
  pending: "pause" | "resume" | "take_over" | "hand_back" | "stop" | "continue" | null =
    $state(null);
  /** What the person did while driving, told to the run when it is handed back. */
  note = $state("");

  constructor(private readonly run: OpenRun) {}

  readonly status = $derived.by(() => this.run.summary?.status ?? "queued");
  readonly paused = $derived.by(() => this.status === "paused");
  readonly tookOver = $derived.by(() => {
    const reason = this.run.summary?.reason;
    return this.paused && reason?.kind === "paused" && reason.pause === "take_over";
  });
  readonly busy = $derived.by(() =>
    ["planning", "running", "needs_approval"].includes(this.status),
  );

  togglePause(): Promise<void> {
    if (this.tookOver) return this.handBack();
    if (this.paused) return this.resume();
    return this.busy ? this.#do("pause") : Promise.resolve();
  }

  toggleTakeOver(): Promise<void> {
    if (this.tookOver) return this.handBack();
    return this.busy || this.paused ? this.#do("take_over") : Promise.resolve();
  }

  handBack(): Promise<void> {
    return this.#attempt("hand_back", "ui.run.command_failed", async () => {
      await this.run.command("hand_back", this.note.trim());
      this.note = "";
    });
  }

  resume(): Promise<void> {
    return this.#do("resume");
  }

  stop(): Promise<void> {
    return this.#attempt("stop", "ui.stop.failed", () => this.run.stop());
  }

  continue(): Promise<void> {
    return this.#attempt("continue", "ui.run.continue_failed", () => this.run.resume());
  }

  #do(command: "pause" | "resume" | "take_over"): Promise<void> {
    return this.#attempt(command, "ui.run.command_failed", () => this.run.command(command));
  }

  async #attempt(
    pending: NonNullable<typeof this.pending>,
    what: MessageKey,
    work: () => Promise<void>,
  ): Promise<void> {
    this.pending = pending;
    try {
      await work();
    } catch (thrown) {
      toasts.show(notDone(t(what), failureOf(thrown)), { tone: "danger" });
    } finally {
      this.pending = null;
    }
  }
}
