/** From so many runs on, a number says something. */
export const ENOUGH = 5;
/** Before so many finished runs there is nothing to show. */
export const FIRST = 3;

/** A number of few runs: shown, and marked as early. */
export function early(runs: number): boolean {
  return runs > 0 && runs < ENOUGH;
}

/** Per cent of runs that were done; nothing without a run, never a nought. */
export function rate(done: number, runs: number): string {
  return runs === 0 ? "–" : `${Math.round((done / runs) * 100)} %`;
}
