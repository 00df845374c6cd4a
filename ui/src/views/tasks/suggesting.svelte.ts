import { rpc, type Response } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { completed, tokenAt, type Token } from "../../lib/typed";
import { composer } from "../../lib/state/composer.svelte";
import { composerCommands, type ComposerCommand, type Pickers } from "./commands";

type Found = Response<"paths_find">;
export type Suggestion =
  | { kind: "command"; id: string; command: ComposerCommand }
  | { kind: "path"; id: string; path: Found["paths"][number] };

/** Between two letters nothing is asked. */
const REST = 60;

/** What fits what is being typed: after `/` what the composer can do, after `@` a file. */
export class Suggesting {
  chosen = $state(0);
  found: Found | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  /** Files were asked for and are not there yet. */
  loading = $state(false);

  readonly list: readonly Suggestion[] = $derived.by(() => this.#fitting());

  #token: Token | null = $state.raw(null);
  /** The sign that was left alone by Escape. */
  #closed = -1;
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly pick: Pickers) {}

  /** Something is shown: suggestions, or that there are no such files. */
  get open(): boolean {
    return this.#token !== null && (this.list.length > 0 || this.#token.kind === "@");
  }

  /** The field changed, or its caret moved. */
  look(text: string, caret: number): void {
    const token = tokenAt(text, caret);
    if (token?.start !== this.#closed) this.#closed = -1;
    const now = this.#closed === -1 ? token : null;
    const before = this.#token;
    if (now?.kind === before?.kind && now?.start === before?.start && now?.words === before?.words)
      return;
    this.#token = now;
    this.chosen = 0;
    if (now?.kind === "@") this.#find(now.words);
    else this.#forget();
  }

  move(by: 1 | -1): void {
    const { length } = this.list;
    if (length > 0) this.chosen = (this.chosen + by + length) % length;
  }

  /** Leaves what is typed as it is. */
  close(): void {
    this.#closed = this.#token?.start ?? -1;
    this.#token = null;
    this.#forget();
  }

  /** Takes a suggestion; answers the text and where the caret is then. */
  take(suggestion: Suggestion | undefined, text: string): { text: string; caret: number } | null {
    const token = this.#token;
    if (!token || !suggestion) return null;
    this.#token = null;
    this.#forget();
    if (suggestion.kind === "command") {
      suggestion.command.run();
      return completed(text, token, "");
    }
    const { path, absolute } = suggestion.path;
    composer.attach([absolute]);
    return completed(text, token, `${/\s/.test(path) ? `"${path}"` : path} `);
  }

  #fitting(): Suggestion[] {
    if (this.#token?.kind === "@") {
      const paths = this.found?.paths ?? [];
      return paths.map((path) => ({ kind: "path", id: path.path, path }));
    }
    if (this.#token?.kind !== "/") return [];
    const words = this.#token.words.toLowerCase().split(/\s+/).filter(Boolean);
    return composerCommands(this.pick)
      .filter(({ id, group, title }) => {
        const text = `${id} ${group} ${title}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .map((command) => ({ kind: "command", id: command.id, command }));
  }

  #forget(): void {
    this.#round += 1;
    clearTimeout(this.#timer);
    this.loading = false;
    this.found = null;
    this.failure = null;
  }

  #find(words: string): void {
    const round = ++this.#round;
    clearTimeout(this.#timer);
    this.loading = true;
    this.#timer = setTimeout(() => void this.#ask(round, words), REST);
  }

  async #ask(round: number, words: string): Promise<void> {
    const { folder } = composer.draft;
    try {
      const found = await rpc("paths_find", { words, ...(folder ? { folder } : {}) });
      if (round !== this.#round) return;
      this.found = found;
      this.failure = null;
    } catch (thrown) {
      if (round !== this.#round) return;
      this.found = null;
      this.failure = failureOf(thrown);
    }
    this.loading = false;
  }
}
