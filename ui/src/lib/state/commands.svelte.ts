import { untrack } from "svelte";
import {
  commandFor,
  COMMANDS,
  composing,
  isLetter,
  isPlain,
  onMac,
  type CommandId,
  type Context,
} from "../keymap";
import { appearance } from "./appearance.svelte";

type Handlers = Partial<Record<CommandId, () => void>>;

/** What can be done now: pages provide handlers while they are shown. */
class Commands {
  context: Context = $state("global");
  #provided: readonly Handlers[] = $state.raw([]);

  /** Commands that would do something at this moment. */
  readonly available = $derived(
    (Object.keys(COMMANDS) as CommandId[]).filter((id) => this.#handler(id) !== undefined),
  );

  /** Offers handlers until the returned function is called; later ones win. */
  provide(handlers: Handlers): () => void {
    // Called from effects, which must not depend on what they change.
    return untrack(() => {
      this.#provided = [...this.#provided, handlers];
      return () =>
        untrack(() => (this.#provided = this.#provided.filter((other) => other !== handlers)));
    });
  }

  run(id: CommandId): void {
    this.#handler(id)?.();
  }

  /** Performs the command of a key, unless the key is text that is being written. */
  onkeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || composing(event)) return;
    const found = commandFor(event, this.context, onMac());
    if (!found) return;
    const [id, key] = found;
    if (isPlain(key) && (inText(event.target) || inLayer(event.target))) return;
    if (isPlain(key) && takesArrows(event.target, key)) return;
    if (key === "Space" && isPressed(event.target)) return;
    if (isLetter(key) && !appearance.look.letters) return;
    const handler = this.#handler(id);
    if (!handler) return;
    event.preventDefault();
    handler();
  };

  #handler(id: CommandId): (() => void) | undefined {
    return this.#provided.findLast((handlers) => handlers[id])?.[id];
  }
}

function inText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}

function inLayer(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('[role="dialog"],[role="alertdialog"],[role="menu"]') !== null
  );
}

/** Buttons and the like are pressed with the space bar. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, summary, [role=button]") !== null;
}

/** Sliders, tabs and the like use the arrows themselves. */
function takesArrows(target: EventTarget | null, key: string): boolean {
  return (
    key.includes("Arrow") &&
    target instanceof HTMLElement &&
    target.closest('[role="slider"],[role="tablist"],[role="radiogroup"],[role="listbox"]') !== null
  );
}

export const commands = new Commands();
