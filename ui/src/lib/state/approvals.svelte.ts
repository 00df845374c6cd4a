import { rpc, type ApprovalView } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { events } from "./events.svelte";

/** How long it waits before it asks again what was not answered, milliseconds. */
const AGAIN = 3_000;

/** Questions that wait for the person. */
class Approvals {
  open: readonly ApprovalView[] = $state.raw([]);
  failure: Failure | null = $state.raw(null);
  #loading = false;
  #again = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads them and keeps them true until the returned function is called. */
  start(): () => void {
    void this.load();
    const stops = [
      events.on("run", (batch) => {
        if (batch.some((event) => event.kind.startsWith("run.approval") || ends(event.payload)))
          void this.load();
      }),
      events.onReset(() => void this.load()),
      () => clearTimeout(this.#timer),
    ];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return;
    }
    this.#loading = true;
    clearTimeout(this.#timer);
    try {
      const { approvals } = await rpc("approvals_list", {});
      this.open = approvals;
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
      // A question must not stay unseen because one answer failed. Without contact, coming back asks.
      this.#timer = setTimeout(() => {
        if (events.connection === "connected") void this.load();
      }, AGAIN);
    } finally {
      this.#loading = false;
    }
    if (this.#again) {
      this.#again = false;
      await this.load();
    }
  }

  of(run: string): readonly ApprovalView[] {
    return this.open.filter((approval) => approval.run === run);
  }
}

function ends(payload: unknown): boolean {
  return typeof payload === "object" && payload !== null && "status" in payload;
}

export const approvals = new Approvals();
