import type { MessageKey } from "../../lib/i18n.svelte";
import type { Look } from "../../lib/state/appearance.svelte";

/** The sections, in their order. */
export const SECTIONS = [
  "general",
  "models",
  "permissions",
  "safety",
  "hotkeys",
  "agents",
  "appearance",
  "privacy",
  "about",
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** How a setting of the core is changed. */
export type Control =
  | { kind: "text" | "folder" | "switch" | "folders" | "model" | "monitor" | "preset" | "backends" }
  | { kind: "hotkey"; name: string }
  | { kind: "number"; unit: MessageKey | null; whole: boolean }
  | { kind: "choice"; options: readonly { value: string; label: MessageKey }[] };

/** A block that is more than one control. */
export type BlockName =
  "test" | "keys" | "permissions" | "rules" | "agents" | "leaves" | "storage" | "about";

/** One row: a setting of the core, a trait of the window, or a block. */
export type Row = {
  section: SectionName;
  label: MessageKey;
  help: MessageKey;
  /** The one system where it does something. */
  system?: "linux";
} & (
  | {
      setting: string;
      control: Control;
      /** The value that lowers a protection, so that it is asked for once more. */
      risky?: string;
    }
  | { look: Exclude<keyof Look, "sidebar"> }
  | { block: BlockName }
);

function setting(section: SectionName, name: string, control: Control, risky?: string): Row {
  // The catalogue has a label and a line of help for each; a test looks.
  const label = `ui.set.${name}` as MessageKey;
  return {
    section,
    setting: name,
    control,
    label,
    help: `${label}.help` as MessageKey,
    ...(risky ? { risky } : {}),
  };
}

function look(name: Exclude<keyof Look, "sidebar">): Row {
  const label = `ui.look.${name}` as const;
  return { section: "appearance", look: name, label, help: `${label}.help` };
}

function number(unit: MessageKey | null, whole = true): Control {
  return { kind: "number", unit, whole };
}

function choice(name: string, values: readonly string[]): Control {
  return {
    kind: "choice",
    options: values.map((value) => ({ value, label: `ui.set.${name}.${value}` as MessageKey })),
  };
}

/** Every row. Settings that only a file can hold well, such as headers, are not here. */
export const ROWS: readonly Row[] = [
  setting("general", "language", {
    kind: "choice",
    options: [
      { value: "", label: "ui.set.language.system" },
      { value: "en", label: "ui.language.en" },
      { value: "zh-Hans", label: "ui.language.zh-Hans" },
    ],
  }),
  setting("general", "run.workspace", { kind: "folder" }),
  setting("general", "run.backends", { kind: "backends" }),
  setting("general", "desktop.notifications", { kind: "switch" }),
  setting("general", "desktop.step_aside", { kind: "switch" }),
  setting("general", "log.level", choice("log.level", ["error", "warn", "info", "debug", "trace"])),

  setting("models", "model.name", { kind: "model" }),
  { section: "models", block: "test", label: "ui.models.test.title", help: "ui.models.test.help" },
  {
    section: "models",
    block: "keys",
    label: "ui.keys.title",
    help: "ui.keys.help",
  },
  setting("models", "model.base_url", { kind: "text" }),
  setting("models", "model.hosted_computer", { kind: "switch" }),
  setting("models", "model.max_reply_tokens", number("ui.unit.tokens")),

  { section: "permissions", block: "permissions", label: "ui.perm.title", help: "ui.perm.rest" },
  setting("permissions", "screen.monitor", { kind: "monitor" }),
  setting("permissions", "screen.private_size", { kind: "text" }),
  setting("permissions", "screen.settle_ms", number("ui.unit.ms")),
  setting("permissions", "screen.type_delay_ms", number("ui.unit.ms")),
  setting("permissions", "screen.cmd_is_ctrl", { kind: "switch" }),

  setting("safety", "policy.preset", { kind: "preset" }, "hands-off"),
  { section: "safety", block: "rules", label: "ui.rules.title", help: "ui.rules.help" },
  setting("safety", "policy.folders", { kind: "folders" }),
  setting("safety", "policy.protected", { kind: "folders" }),
  setting("safety", "run.max_steps", number("ui.unit.steps")),
  setting("safety", "run.max_minutes", number("ui.unit.minutes", false)),
  setting("safety", "run.max_tokens", number("ui.unit.tokens")),
  setting("safety", "run.max_cost", number("ui.unit.dollars", false)),
  setting(
    "safety",
    "screen.human_input",
    choice("screen.human_input", ["pause", "stop", "ignore"]),
    "ignore",
  ),
  setting("safety", "storage.frames_days", number("ui.unit.days")),
  setting("safety", "storage.frames_gb", number("ui.unit.gb", false)),

  ...["stop", "pause", "approvals", "quick"].map((name) =>
    setting("hotkeys", `desktop.hotkey_${name}`, { kind: "hotkey", name }),
  ),

  setting("agents", "mcp.serve", { kind: "switch" }),
  setting("agents", "mcp.port", number(null)),
  { section: "agents", block: "agents", label: "ui.agents.title", help: "ui.agents.help" },

  look("theme"),
  look("contrast"),
  look("motion"),
  look("zoom"),
  look("underline"),
  look("letters"),
  look("verbose"),
  look("thoughts"),
  { ...setting("appearance", "desktop.safe_graphics", { kind: "switch" }), system: "linux" },

  { section: "privacy", block: "leaves", label: "ui.leaves.title", help: "ui.leaves.help" },
  { section: "privacy", block: "storage", label: "ui.storage.title", help: "ui.storage.help" },

  {
    section: "about",
    block: "about",
    label: "ui.about.title",
    help: "ui.about.marker.text",
  },
];

/** Its name within the page. */
export function idOf(row: Row): string {
  return "setting" in row ? row.setting : "look" in row ? `look.${row.look}` : row.block;
}

/** The rows whose words hold all of the words asked for. */
export function find(words: string, say: (key: MessageKey) => string): Row[] {
  const wanted = words.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return ROWS.filter((row) => {
    const text = [say(row.label), say(row.help), idOf(row), say(titleOf(row.section))]
      .join(" ")
      .toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export function titleOf(section: SectionName): MessageKey {
  return `ui.settings.section.${section}`;
}
