import { rpc, type ApprovalView } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { approvals } from "../../lib/state/approvals.svelte";

/** The questions a page shows: open ones, and those that were answered while it showed them. */
export class ShownApprovals {
  failure: Failure | null = $state.raw(null);
  #closed: readonly ApprovalView[] = $state.raw([]);
  #known: readonly ApprovalView[] = [];

  readonly list: readonly ApprovalView[] = $derived.by(() => {
    const open = approvals.open.filter((approval) => this.wanted(approval));
    const ids = new Set(open.map((approval) => approval.id));
    return [...open, ...this.#closed.filter((approval) => !ids.has(approval.id))];
  });

  constructor(private readonly wanted: (approval: ApprovalView) => boolean) {}

  /** Notices which questions are not open any more; to be called with each new list. */
  follow(open: readonly ApprovalView[]): void {
    const now = open.filter((approval) => this.wanted(approval));
    const ids = new Set(now.map((approval) => approval.id));
    const gone = this.#known.filter((approval) => !ids.has(approval.id));
    this.#known = now;
    for (const approval of gone) void this.fetch(approval.id);
  }

  /** Shows an answered question no longer. */
  leave(id: string): void {
    this.#closed = this.#closed.filter((approval) => approval.id !== id);
  }

  /** Shows a question as it is now, open or not. */
  async fetch(id: string): Promise<void> {
    try {
      const approval = await rpc("approval_get", { approval: id });
      this.failure = null;
      if (approval.state === "open") return;
      this.#closed = [...this.#closed.filter((other) => other.id !== id), approval];
    } catch (thrown) {
      this.failure = failureOf(thrown);
    }
  }
}
