import { afterEach, beforeAll } from "vitest";
import { speaker } from "../src/lib/i18n.svelte";

beforeAll(async () => {
  await speaker.speak("en");
});

afterEach(() => {
  document.body.replaceChildren();
  localStorage.clear();
});

// What jsdom lacks and every browser has.
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
Element.prototype.scrollIntoView ??= () => undefined;
window.matchMedia ??= (query) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }) as unknown as MediaQueryList;
