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
    const closed = this.#closed.filter((approval) => !ids.has(approval.id));
    // Each stays in its place when it is answered, so that nothing moves under a hand.
    return [...open, ...closed].sort((one, other) => one.askedAt - other.askedAt);
  });

  constructor(private readonly wanted: (approval: ApprovalView) => boolean) {}

  /** The open question after this one, else the first; itself where there is no other. */
  next(id: string): string {
    const open = this.list.filter((approval) => approval.state === "open");
    const here = open.findIndex((approval) => approval.id === id);
    return (open[here + 1] ?? open[0])?.id ?? id;
  }

  /** Notices which questions are not open any more; to be called with each new list, before it is drawn. */
  follow(open: readonly ApprovalView[]): void {
    const now = open.filter((approval) => this.wanted(approval));
    const ids = new Set(now.map((approval) => approval.id));
    const gone = this.#known.filter((approval) => !ids.has(approval.id));
    this.#known = now;
    for (const approval of gone) {
      // It stays, with the focus that may be on it, until it is known how it ended.
      this.#close(approval);
      void this.fetch(approval.id);
    }
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
      this.#close(approval);
    } catch (thrown) {
      this.leave(id);
      this.failure = failureOf(thrown);
    }
  }

  #close(approval: ApprovalView): void {
    this.leave(approval.id);
    this.#closed = [...this.#closed, approval];
  }
}
