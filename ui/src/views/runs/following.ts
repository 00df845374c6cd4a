import type { VListHandle } from "virtua/svelte";

/** How exactly the end of a list is met: sizes are rounded. */
const NEAR = 2;

/** Keeps a list at its end as it grows, until somebody scrolls away from there. */
export class Following {
  #on = true;
  #asked = 0;
  #offset = 0;
  #size = 0;

  /** Whether the list stays at its end; `asked` counts how often somebody wanted it there. */
  at(asked: number): boolean {
    if (asked !== this.#asked) this.#on = true;
    this.#asked = asked;
    return this.#on;
  }

  /** The list was scrolled, by a person or by what it shows. */
  scrolled(list: VListHandle, offset: number): void {
    const size = list.getScrollSize();
    if (offset + list.getViewportSize() >= size - NEAR) this.#on = true;
    // A row that turns out to be of another size moves the list as well: nobody did that.
    else if (offset < this.#offset && size === this.#size) this.#on = false;
    this.#offset = offset;
    this.#size = size;
  }
}
