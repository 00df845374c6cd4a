/** The parts of a key event that make a hotkey. */
type Pressed = Pick<KeyboardEvent, "code" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

/** A hotkey as the settings write it, such as `ctrl+alt+period`; none for keys that make none. */
export function hotkeyOf(event: Pressed): string | null {
  const modifiers = [
    event.ctrlKey && "ctrl",
    event.altKey && "alt",
    event.shiftKey && "shift",
    event.metaKey && "super",
  ].filter((name) => name !== false);
  const key = keyName(event.code);
  // Without Control, Alt or Super it would be text in every program.
  if (key === null || !(event.ctrlKey || event.altKey || event.metaKey)) return null;
  return [...modifiers, key].join("+");
}

/** A hotkey of the settings as keyboards name it, such as `Ctrl+Alt+.`. */
export function readable(keys: string): string {
  const signs: Record<string, string> = {
    period: ".",
    comma: ",",
    slash: "/",
    minus: "-",
    equal: "=",
    semicolon: ";",
    arrowup: "↑",
    arrowdown: "↓",
    arrowleft: "←",
    arrowright: "→",
  };
  return keys
    .split("+")
    .map((key) => signs[key] ?? key.charAt(0).toUpperCase() + key.slice(1))
    .join("+");
}

function keyName(code: string): string | null {
  const letter = /^Key([A-Z])$/.exec(code)?.[1] ?? /^Digit(\d)$/.exec(code)?.[1];
  if (letter !== undefined) return letter.toLowerCase();
  return /^(F\d{1,2}|Period|Comma|Slash|Space|Minus|Equal|Semicolon|Home|End|PageUp|PageDown|Insert|Delete|Arrow(Up|Down|Left|Right))$/.test(
    code,
  )
    ? code.toLowerCase()
    : null;
}
