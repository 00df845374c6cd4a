/** Where a key works: everywhere, or on one page. */
export type Context =
  | "global"
  | "tasks"
  | "run"
  | "approvals"
  | "insights"
  | "hosts"
  | "diagnostics"
  | "settings"
  | "welcome";

export interface Binding {
  /** `Mod` is Command on a Mac and Control elsewhere. */
  keys: readonly string[];
  context: Context;
  /** Shown in the palette. */
  palette?: boolean;
}

/** Every command with its keys. The title of each is `ui.command.<name>`. */
export const COMMANDS = {
  palette: { keys: ["Mod+K"], context: "global" },
  newTask: { keys: ["Mod+N", "N"], context: "global", palette: true },
  stopAll: { keys: ["Mod+."], context: "global", palette: true },
  settings: { keys: ["Mod+,"], context: "global", palette: true },
  sidebar: { keys: ["Mod+B"], context: "global", palette: true },
  section1: { keys: ["Mod+1"], context: "global" },
  section2: { keys: ["Mod+2"], context: "global" },
  section3: { keys: ["Mod+3"], context: "global" },
  section4: { keys: ["Mod+4"], context: "global" },
  section5: { keys: ["Mod+5"], context: "global" },
  region: { keys: ["F6"], context: "global" },
  nextApproval: { keys: ["F7"], context: "global", palette: true },
  focusStop: { keys: ["F8"], context: "global" },
  zoomIn: { keys: ["Mod+=", "Mod++"], context: "global", palette: true },
  zoomOut: { keys: ["Mod+-"], context: "global", palette: true },
  zoomReset: { keys: ["Mod+0"], context: "global", palette: true },
  help: { keys: ["F1", "?"], context: "global", palette: true },
  theme: { keys: [], context: "global", palette: true },
  demo: { keys: [], context: "global", palette: true },
  welcome: { keys: [], context: "global", palette: true },

  down: { keys: ["J", "ArrowDown"], context: "tasks" },
  up: { keys: ["K", "ArrowUp"], context: "tasks" },
  preview: { keys: ["Space"], context: "tasks" },
  stopSelected: { keys: ["."], context: "tasks", palette: true },
  filter: { keys: ["F"], context: "tasks" },
  search: { keys: ["/"], context: "tasks", palette: true },

  pause: { keys: ["P"], context: "run", palette: true },
  takeOver: { keys: ["T"], context: "run", palette: true },
  previousFrame: { keys: ["ArrowLeft"], context: "run" },
  nextFrame: { keys: ["ArrowRight"], context: "run" },
  previousStep: { keys: ["Shift+ArrowLeft"], context: "run" },
  nextStep: { keys: ["Shift+ArrowRight"], context: "run" },
  beforeAfter: { keys: ["B"], context: "run", palette: true },
  zoom: { keys: ["Z"], context: "run", palette: true },
  live: { keys: ["L"], context: "run", palette: true },
  inspector: { keys: ["I", "Mod+I"], context: "run", palette: true },
  textView: { keys: ["V"], context: "run", palette: true },
  approval: { keys: ["A"], context: "run", palette: true },
  message: { keys: ["M"], context: "run", palette: true },
  find: { keys: ["Mod+F"], context: "run", palette: true },
  export: { keys: [], context: "run", palette: true },

  findSetting: { keys: ["/", "Mod+F"], context: "settings", palette: true },

  hostDown: { keys: ["J"], context: "hosts" },
  hostUp: { keys: ["K"], context: "hosts" },
  hostRegister: { keys: ["R"], context: "hosts", palette: true },
  hostUnregister: { keys: ["X"], context: "hosts", palette: true },
  hostTest: { keys: ["T"], context: "hosts", palette: true },

  checkAgain: { keys: ["R"], context: "diagnostics", palette: true },
  report: { keys: [], context: "diagnostics", palette: true },
} as const satisfies Record<string, Binding>;

export type CommandId = keyof typeof COMMANDS;

/** The parts of a key event that matter here. */
export type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** Whether a key belongs to an input method. WebKit tells that of the one that ends a composition by its code alone. */
export function composing(event: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return event.isComposing || event.keyCode === 229;
}

export function onMac(): boolean {
  return typeof navigator !== "undefined" && /Mac/.test(navigator.userAgent);
}

/** Whether a key event is this key, such as `Mod+K` or `?`. */
export function matches(key: string, event: Pressed, mac: boolean): boolean {
  const parts = key === "Mod++" ? ["Mod", "+"] : key.split("+");
  const last = parts.at(-1) ?? "";
  const mod = parts.includes("Mod");
  const shift = parts.includes("Shift");
  if (event.altKey || mod !== (mac ? event.metaKey : event.ctrlKey)) return false;
  if (mac ? event.ctrlKey : event.metaKey) return false;
  // Signs such as `?` need Shift on most keyboards; for letters and named keys it has to be asked for.
  const sign = last.length === 1 && !/[a-z0-9]/i.test(last);
  if (!sign && shift !== event.shiftKey) return false;
  const pressed = event.key === " " ? "Space" : event.key;
  return pressed.toLowerCase() === last.toLowerCase();
}

/** A key without Control or Command that would be text in a field. */
export function isPlain(key: string): boolean {
  return !key.startsWith("Mod") && !/^F\d+$/.test(key);
}

/** A single character: can be switched off. */
export function isLetter(key: string): boolean {
  return key.length === 1;
}

/** The command for a key event in a context, its own before those of everywhere. */
export function commandFor(
  event: Pressed,
  context: Context,
  mac: boolean,
): [CommandId, string] | null {
  const all = Object.entries(COMMANDS) as [CommandId, Binding][];
  for (const wanted of [context, "global"] as const) {
    for (const [id, binding] of all) {
      if (binding.context !== wanted) continue;
      const key = binding.keys.find((key) => matches(key, event, mac));
      if (key !== undefined) return [id, key];
    }
  }
  return null;
}

/** A key as it is written on the keyboard. */
export function label(key: string, mac: boolean): string {
  const names: Record<string, string> = {
    Mod: mac ? "⌘" : "Ctrl",
    Shift: mac ? "⇧" : "Shift",
    ArrowLeft: "←",
    ArrowRight: "→",
    ArrowUp: "↑",
    ArrowDown: "↓",
  };
  const parts = key === "Mod++" ? ["Mod", "+"] : key.split("+");
  return parts.map((part) => names[part] ?? part).join(mac ? "" : "+");
}
