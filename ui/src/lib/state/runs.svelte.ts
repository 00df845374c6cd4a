import { rpc, type RunSummary } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { needsPerson, type Status } from "../run/status";
import { events } from "./events.svelte";

/** Rows of one page. */
const PAGE = 100;
/** How long changed runs gather before they are asked for again. */
const GATHER = 250;
/** How long it waits before it asks again for those that were not answered. */
const AGAIN = 3_000;

/** How long a deletion can be undone. */
export const UNDO = 10_000;

/** What runs are looked for. */
export interface Wanted {
  /** Only these; all when empty. */
  statuses: Status[];
  /** Only from there. */
  origin: string;
  /** Only those whose task contains them. */
  words: string;
}

/** The runs, newest first, as the core says they are. */
class Runs {
  list: readonly RunSummary[] = $state.raw([]);
  loading = $state(true);
  /** Older runs exist. */
  more = $state(false);
  /** Runs that fit what is looked for, however old. */
  found: readonly RunSummary[] = $state.raw([]);
  /** What is looked for is not all found yet. */
  looking = $state(false);
  failure: Failure | null = $state.raw(null);
  /** When the list was last true, Unix milliseconds. */
  asOf: number | null = $state(null);

  /** Runs whose deletion can still be undone. */
  leaving: ReadonlySet<string> = $state.raw(new Set());
  /** What the list shows. */
  readonly shown = $derived(this.list.filter((run) => !this.leaving.has(run.id)));
  /** The same with what was found. */
  readonly known = $derived(
    merge(this.found, this.list, []).filter((run) => !this.leaving.has(run.id)),
  );
  readonly going = $derived(this.list.filter((run) => run.going));
  readonly waiting = $derived(this.list.filter((run) => needsPerson(run.status)));
  readonly inControl = $derived(this.list.find((run) => run.inControl) ?? null);

  readonly #changed = new Set<string>();
  /** The oldest run of the pages so far; the list may know single ones that are older. */
  #last: string | undefined;
  #wanted: Wanted | null = null;
  #foundMore = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Loads the list and keeps it true until the returned function is called. */
  start(): () => void {
    void this.load();
    const stops = [
      events.on("run", (batch) => batch.forEach((event) => this.touch(event.key))),
      events.onReset(() => {
        void this.load();
        // Those that are too old for the first page.
        if (this.#changed.size > 0) void this.#refresh();
      }),
      () => {
        clearTimeout(this.#timer);
        this.#timer = undefined;
      },
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** The newest page, from the core. */
  async load(): Promise<void> {
    try {
      const { runs } = await rpc("runs_list", { statuses: [], limit: PAGE });
      this.list = runs;
      this.more = runs.length === PAGE;
      this.#last = runs.at(-1)?.id;
      this.#fresh();
    } catch (thrown) {
      this.failure = failureOf(thrown);
    } finally {
      this.loading = false;
    }
  }

  /** The next page of older runs. */
  async loadMore(): Promise<void> {
    if (this.#wanted) return this.#findMore(this.#wanted);
    const before = this.#last;
    if (!before || !this.more) return;
    this.more = false;
    try {
      const { runs } = await rpc("runs_list", { statuses: [], before, limit: PAGE });
      this.list = merge(this.list, runs, []);
      this.more = runs.length === PAGE;
      this.#last = runs.at(-1)?.id ?? before;
    } catch (thrown) {
      this.failure = failureOf(thrown);
      this.more = true;
    }
  }

  /** Looks for runs among all there are; without a wish, forgets what was found. */
  look(wanted: Wanted | null): void {
    this.#wanted = wanted;
    this.#foundMore = false;
    if (!wanted) this.found = [];
    // One question at a time: keys come faster than answers, and only the newest wish counts.
    else if (!this.looking) void this.#find();
  }

  async #find(): Promise<void> {
    this.looking = true;
    let wanted: Wanted | null = null;
    while (this.#wanted && this.#wanted !== wanted) {
      wanted = this.#wanted;
      await this.#findPage(wanted);
    }
    this.looking = false;
  }

  async #findMore(wanted: Wanted): Promise<void> {
    const before = this.found.at(-1)?.id;
    if (!before || !this.#foundMore) return;
    this.#foundMore = false;
    await this.#findPage(wanted, before);
  }

  async #findPage(wanted: Wanted, before?: string): Promise<void> {
    const { statuses, origin, words } = wanted;
    try {
      const { runs } = await rpc("runs_list", {
        statuses,
        limit: PAGE,
        ...(words ? { containing: words } : {}),
        ...(origin ? { origin } : {}),
        ...(before ? { before } : {}),
      });
      if (this.#wanted !== wanted) return;
      this.found = before ? [...this.found, ...runs] : runs;
      this.#foundMore = runs.length === PAGE;
    } catch (thrown) {
      if (this.#wanted === wanted) this.failure = failureOf(thrown);
    }
  }

  /** Something happened to a run: asks for it again soon, with others. */
  touch(id: string): void {
    this.#changed.add(id);
    this.#timer ??= setTimeout(() => void this.#refresh(), GATHER);
  }

  /** Hides a run that is to be deleted once that can no longer be undone. */
  leave(id: string): void {
    this.leaving = new Set([...this.leaving, id]);
  }

  /** Takes a deletion back. */
  keep(id: string): void {
    this.leaving = new Set([...this.leaving].filter((other) => other !== id));
  }

  /** Deletes a run that was hidden for it; it is there again when that fails. */
  async delete(id: string): Promise<void> {
    if (!this.leaving.has(id)) return;
    try {
      await rpc("run_delete", { run: id });
      this.list = this.list.filter((run) => run.id !== id);
      this.found = this.found.filter((run) => run.id !== id);
    } finally {
      this.keep(id);
    }
  }

  get(id: string): RunSummary | undefined {
    return this.list.find((run) => run.id === id) ?? this.found.find((run) => run.id === id);
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A page at a time: those that are not answered would count as deleted.
    const ids = [...this.#changed].slice(0, PAGE);
    ids.forEach((id) => this.#changed.delete(id));
    if (this.#changed.size > 0) this.#timer = setTimeout(() => void this.#refresh(), GATHER);
    try {
      const { runs } = await rpc("runs_get", { runs: ids });
      this.list = merge(this.list, runs, ids);
      const there = new Set(runs.map((run) => run.id));
      this.found = this.found.filter((run) => there.has(run.id) || !ids.includes(run.id));
      this.#fresh();
    } catch (thrown) {
      // What happened to them is told once only. Without contact, coming back asks for them.
      ids.forEach((id) => this.#changed.add(id));
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        if (events.connection === "connected") void this.#refresh();
      }, AGAIN);
      this.failure = failureOf(thrown);
    }
  }

  #fresh(): void {
    this.failure = null;
    this.asOf = Date.now();
  }
}

/** The list with some runs as they are now, new ones in their place, deleted ones gone. */
export function merge(
  list: readonly RunSummary[],
  fresh: readonly RunSummary[],
  asked: readonly string[],
): RunSummary[] {
  const now = new Map(fresh.map((run) => [run.id, run]));
  const gone = new Set(asked.filter((id) => !now.has(id)));
  const kept = list
    .filter((run) => !gone.has(run.id))
    .map((run) => {
      const newer = now.get(run.id);
      now.delete(run.id);
      return newer ?? run;
    });
  const added = [...now.values()];
  if (added.length === 0) return kept;
  return [...added, ...kept].sort((one, other) => other.createdAt - one.createdAt);
}

export const runs = new Runs();
