import { rpc, type ApprovalView, type Request } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { approvals } from "../../lib/state/approvals.svelte";

type Answer = Pick<Request<"approval_answer">, "choice" | "note" | "rule" | "command">;

/** A control that allows does nothing before it could be seen for this long, milliseconds. */
export const SEEN = 600;
/** Between two presses that mean two decisions, milliseconds: less is one press that bounced. */
const APART = 600;
/** How long the first press waits for the second, milliseconds. */
const WAITS = 8_000;

/** Answers one question. */
export class Answering {
  busy = $state(false);
  failure: Failure | null = $state.raw(null);
  /** The question as it was after an answer from here. */
  answered: ApprovalView | null = $state.raw(null);
  /** Somebody else was first. */
  late = $state(false);
  /** The first of two presses was made. */
  armed = $state(false);

  #armedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** What cannot be undone and is risky takes two deliberate presses. */
  static takesTwo(reading: Pick<ApprovalView, "risk" | "reversible">): boolean {
    return reading.risk === "high" && !reading.reversible;
  }

  /** A press of the control that allows, which takes two where `two` is set. */
  async allow(
    approval: ApprovalView,
    answer: Answer,
    two = Answering.takesTwo(approval),
  ): Promise<void> {
    if (two) {
      const now = performance.now();
      if (!this.armed) {
        this.armed = true;
        this.#armedAt = now;
        this.#timer = setTimeout(() => (this.armed = false), WAITS);
        return;
      }
      if (now - this.#armedAt < APART) return;
      this.disarm();
    }
    await this.send(approval, answer);
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.armed = false;
  }

  /** Sends an answer; without a choice it denies. */
  async send(approval: ApprovalView, answer: Answer): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.failure = null;
    try {
      const response = await rpc("approval_answer", {
        approval: approval.id,
        nonce: approval.nonce,
        ...answer,
      });
      this.answered = response.approval;
      this.late = !response.counted;
      void approvals.load();
    } catch (thrown) {
      this.failure = failureOf(thrown);
    } finally {
      this.busy = false;
    }
  }
}
