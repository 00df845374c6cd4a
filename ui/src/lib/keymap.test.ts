import { describe, expect, it } from "vitest";
import english from "../../messages/en.json";
import {
  COMMANDS,
  commandFor,
  composing,
  label,
  matches,
  type Binding,
  type Pressed,
} from "./keymap";

const press = (key: string, held: Partial<Pressed> = {}): Pressed => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});
const bindings = Object.entries(COMMANDS) as [string, Binding][];

describe("keys", () => {
  /** The key that ends a composition is the input method's, which WebKit tells by its code alone. */
  it("may belong to an input method", () => {
    expect(composing({ isComposing: true, keyCode: 13 })).toBe(true);
    expect(composing({ isComposing: false, keyCode: 229 })).toBe(true);
    expect(composing({ isComposing: false, keyCode: 13 })).toBe(false);
  });

  /** No two commands share a key where both can be pressed. */
  it("do not clash", () => {
    for (const context of new Set(bindings.map(([, binding]) => binding.context))) {
      const keys = bindings
        .filter(([, binding]) => binding.context === context || binding.context === "global")
        .flatMap(([, binding]) => binding.keys.map((key) => key.toLowerCase()));
      expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    }
  });

  /** Every command has a title. */
  it("have titles", () => {
    const missing = bindings.filter(([id]) => !(`ui.command.${id}` in english));
    expect(missing.map(([id]) => id)).toEqual([]);
  });

  /** Control elsewhere is Command on a Mac, and neither works with the other held. */
  it("know the platform", () => {
    expect(matches("Mod+K", press("k", { ctrlKey: true }), false)).toBe(true);
    expect(matches("Mod+K", press("k", { metaKey: true }), true)).toBe(true);
    expect(matches("Mod+K", press("k", { ctrlKey: true }), true)).toBe(false);
    expect(matches("K", press("k", { ctrlKey: true }), false)).toBe(false);
    expect(matches("?", press("?", { shiftKey: true }), false)).toBe(true);
    expect(matches("P", press("P", { shiftKey: true }), false)).toBe(false);
    expect(label("Mod+K", true)).toBe("⌘K");
    expect(label("Shift+ArrowLeft", false)).toBe("Shift+←");
  });

  /** A page's own key comes before the same key of everywhere, and not on other pages. */
  it("depend on the page", () => {
    expect(commandFor(press("p"), "run", false)?.[0]).toBe("pause");
    expect(commandFor(press("p"), "tasks", false)).toBeNull();
    expect(commandFor(press("F7"), "run", false)?.[0]).toBe("nextApproval");
  });
});
