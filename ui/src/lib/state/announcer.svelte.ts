/** Least time between two polite announcements, so that a quick run does not talk without end. */
const PAUSE = 5_000;

/** What screen readers are told. */
class Announcer {
  polite = $state("");
  assertive = $state("");
  #waiting: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = -PAUSE;

  /** Says something when there is time; only the newest of what waits is said. */
  say(text: string): void {
    const rest = this.#last + PAUSE - performance.now();
    if (rest <= 0 && !this.#timer) {
      this.#speak(text);
      return;
    }
    this.#waiting = text;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#waiting) this.#speak(this.#waiting);
        this.#waiting = undefined;
      },
      Math.max(0, rest),
    );
  }

  /** Says something at once: approvals only. */
  interrupt(text: string): void {
    // The same words again are said again only when the text differs.
    this.assertive = this.assertive === text ? `${text}\u200B` : text;
  }

  #speak(text: string): void {
    this.#last = performance.now();
    this.polite = this.polite === text ? `${text}\u200B` : text;
  }
}

export const announcer = new Announcer();
