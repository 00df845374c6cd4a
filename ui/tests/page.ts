import { readFileSync } from "node:fs";
import { vi } from "vitest";

type Invoke = (command: string, request: Record<string, unknown>) => unknown;

/** A page of `public/` with its script, and what that asks of the program. */
export interface SmallPage {
  /** Every command with its values, oldest first. */
  asked: [string, Record<string, unknown>][];
  /** Tells the page something, as the program does. */
  show: (told: unknown) => void;
}

/** Puts a page into the document and runs its script. `answer` is the program. */
export function open(name: "hud" | "quick", answer: Invoke = () => ({})): SmallPage {
  const read = (file: string) => readFileSync(`public/${file}`, "utf8");
  const parsed = new DOMParser().parseFromString(read(`${name}.html`), "text/html");
  document.title = parsed.title;
  document.body.innerHTML = parsed.body.innerHTML;
  const asked: SmallPage["asked"] = [];
  const invoke = vi.fn(async (command: string, request: Record<string, unknown>) => {
    asked.push([command, structuredClone(request)]);
    return await answer(command, request);
  });
  Object.assign(window, { __TAURI_INTERNALS__: { invoke } });
  // The page's own script, as it would run there.
  new Function(read(`${name}.js`))();
  const { show } = globalThis as unknown as Pick<SmallPage, "show">;
  return { asked, show };
}

/** An element of the page. */
export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no part ${id}`);
  return found as T;
}
