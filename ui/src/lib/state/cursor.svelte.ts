import type { RunLog } from "../run/log";
import { firstOf, moments, otherFrame, otherStep, type Moment } from "../run/moments";

/** Where somebody looks in a run: at the newest moment, or at one they chose. */
export class Cursor {
  /** The chosen moment; none follows the run. */
  chosen: number | null = $state(null);
  /** How often somebody wanted to follow it. */
  followed = $state(0);
  side: "before" | "after" = $state("after");
  zoom: "fit" | "real" = $state("fit");

  readonly all: readonly Moment[] = $derived.by(() => moments(this.log()));
  readonly live = $derived(this.chosen === null);
  readonly index = $derived(
    this.chosen === null ? this.all.length - 1 : Math.min(this.chosen, this.all.length - 1),
  );
  readonly moment: Moment | null = $derived(this.all[this.index] ?? null);

  constructor(private readonly log: () => RunLog) {}

  choose(index: number): void {
    if (this.all.length === 0) return;
    this.chosen = Math.max(0, Math.min(this.all.length - 1, index));
    this.side = "after";
  }

  chooseStep(step: number): void {
    this.choose(firstOf(this.all, step));
  }

  chooseCall(step: number, call: string | null): void {
    const index = this.all.findIndex(
      (moment) => moment.step.number === step && (call === null || moment.call?.id === call),
    );
    if (index >= 0) this.choose(index);
  }

  follow(): void {
    this.chosen = null;
    this.followed += 1;
    this.side = "after";
  }

  frame(by: 1 | -1): void {
    this.choose(otherFrame(this.all, this.index, by));
  }

  step(by: 1 | -1): void {
    this.choose(otherStep(this.all, this.index, by));
  }
}
