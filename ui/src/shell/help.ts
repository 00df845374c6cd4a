import type { MessageKey } from "../lib/i18n.svelte";
import type { Context } from "../lib/keymap";

/** What each page is called where help is looked for. */
export const NAMES: Record<Context, MessageKey> = {
  global: "ui.help.everywhere",
  tasks: "ui.nav.tasks",
  run: "ui.run.title",
  approvals: "ui.nav.approvals",
  insights: "ui.nav.insights",
  hosts: "ui.nav.hosts",
  diagnostics: "ui.nav.diagnostics",
  settings: "ui.nav.settings",
  welcome: "ui.nav.welcome",
};
