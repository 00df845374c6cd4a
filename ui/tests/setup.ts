import { cleanup, configure } from "@testing-library/svelte";
import { afterEach, beforeAll } from "vitest";
import { speaker } from "../src/lib/i18n.svelte";

// Pages and dialogs are loaded when they are wanted, which takes its time under the test runner.
configure({ asyncUtilTimeout: 10_000 });
window.innerWidth = 1280;

beforeAll(async () => {
  await speaker.speak("en");
});

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  localStorage.clear();
  location.hash = "";
});

// What jsdom lacks and every browser has: sizes, so that virtual lists show something.
const SIZE = { width: 800, height: 600 };
globalThis.ResizeObserver = class implements ResizeObserver {
  constructor(private readonly told: ResizeObserverCallback) {}
  observe(target: Element) {
    const inList = target.parentElement?.parentElement?.matches(
      ".steps-list, .strip-list, [role=list]",
    );
    const contentRect = { ...SIZE, height: inList ? 56 : SIZE.height } as DOMRectReadOnly;
    queueMicrotask(() => this.told([{ target, contentRect } as ResizeObserverEntry], this));
  }
  unobserve() {}
  disconnect() {}
};
Object.defineProperty(HTMLElement.prototype, "offsetParent", {
  get(this: HTMLElement) {
    return this.parentElement;
  },
});
Element.prototype.scrollIntoView = () => undefined;
Element.prototype.scrollTo = () => undefined;
Element.prototype.setPointerCapture = () => undefined;
window.matchMedia = (query) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }) as unknown as MediaQueryList;
HTMLCanvasElement.prototype.getContext = () => null;
