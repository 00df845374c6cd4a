/** Groups of sentences that no page says: those of other surfaces, and what the core puts into words itself. */
export const OTHERS = [
  "doctor",
  "hud",
  "mcp",
  "notify",
  "practice",
  "preflight",
  "quick",
  "serve",
  "tray",
];

/** Groups that only pages and dialogs say which are loaded when they are wanted. */
export const LATER = [
  "check",
  "demo",
  "desktop",
  "hosts",
  "keys",
  "ui.about",
  "ui.agents",
  "ui.check",
  "ui.diag",
  "ui.diff",
  "ui.export",
  "ui.help",
  "ui.hosts",
  "ui.hotkey",
  "ui.insights",
  "ui.keys",
  "ui.leaves",
  "ui.logs",
  "ui.look",
  "ui.models",
  "ui.perm",
  "ui.proof",
  "ui.report",
  "ui.rules",
  "ui.set",
  "ui.settings",
  "ui.storage",
  "ui.welcome",
];

/** The group a sentence belongs to: its first word, or two of them where that is `ui`. */
export function groupOf(key) {
  return key
    .split(".")
    .slice(0, key.startsWith("ui.") ? 2 : 1)
    .join(".");
}
