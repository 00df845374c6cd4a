import { rpc, type Request, type RunDetail, type RunSummary } from "../api";
import { failureOf, type Failure, type StoredEvent } from "../backend/backend";
import { EMPTY, isGap, reduce, type RunLog } from "../run/log";
import { events } from "./events.svelte";
import { runs } from "./runs.svelte";

/** One run, kept true while somebody looks at it. */
export class OpenRun {
  log: RunLog = $state.raw(EMPTY);
  detail: RunDetail | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  loading = $state(true);
  /** When its log was last complete, Unix milliseconds. */
  asOf = $state(0);

  /** The row of the list is newer than the one of the detail. */
  readonly summary: RunSummary | null = $derived.by(
    () => runs.get(this.id) ?? this.detail?.run ?? null,
  );

  #reloading = false;
  #again = false;
  /** What came while a snapshot was under way. */
  #early: StoredEvent[] = [];

  constructor(readonly id: string) {}

  /** Loads it and follows it until the returned function is called. */
  start(): () => void {
    void this.load();
    const stops = [
      events.on("run", (batch) => this.take(batch.filter((event) => event.key === this.id))),
      events.onReset(() => void this.load()),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** A whole snapshot from the core; what is shown stays until it is there. */
  async load(): Promise<void> {
    if (this.#reloading) {
      this.#again = true;
      return;
    }
    this.#reloading = true;
    try {
      const detail = await rpc("run_detail", { run: this.id });
      this.detail = detail;
      this.log = reduce(reduce(EMPTY, detail.events), this.#early);
      this.#early = [];
      this.failure = null;
      this.asOf = Date.now();
    } catch (thrown) {
      this.failure = failureOf(thrown);
    } finally {
      this.loading = false;
      this.#reloading = false;
    }
    if (this.#again) {
      this.#again = false;
      await this.load();
    }
  }

  /** New events of the run; a gap asks for a snapshot. */
  take(batch: readonly StoredEvent[]): void {
    const [first] = batch;
    if (!first) return;
    if (this.#reloading) {
      this.#early.push(...batch);
      return;
    }
    if (isGap(this.log, first)) {
      void this.load();
      return;
    }
    this.log = reduce(this.log, batch);
    this.asOf = Date.now();
    if (batch.some(changesDetail)) void this.load();
  }

  async command(command: Request<"run_command">["command"], text?: string): Promise<void> {
    await rpc("run_command", { run: this.id, command, ...(text ? { text } : {}) });
  }

  async stop(): Promise<void> {
    await rpc("run_stop", { run: this.id });
  }

  async resume(message?: string): Promise<void> {
    await rpc("run_continue", { run: this.id, ...(message ? { message } : {}) });
  }
}

/** The detail holds more than events say: questions, messages that wait, how it ended. */
function changesDetail(event: StoredEvent): boolean {
  return ["run.status", "run.approval_asked", "run.approval_answered", "run.command"].includes(
    event.kind,
  );
}
