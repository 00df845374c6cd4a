import { t, type MessageKey } from "../lib/i18n.svelte";
import { COMMANDS, type Binding, type CommandId, type Context } from "../lib/keymap";
import { href, router, type HostAct, type Route } from "../lib/router.svelte";
import type { Status } from "../lib/run/status";
import { commands } from "../lib/state/commands.svelte";
import { hostNames } from "../lib/state/host-names.svelte";
import { runs } from "../lib/state/runs.svelte";
import { exists } from "../lib/views";
import { find, idOf } from "../views/settings/rows";
import { showHelp } from "./global.svelte";
import { NAMES } from "./help";
import { sections } from "./sections";
import { firstLine } from "./titles.svelte";

/** Something that can be picked. */
export interface Entry {
  id: string;
  title: string;
  key?: string | undefined;
  status?: Status;
  run: () => void;
}

export interface Group {
  title: string;
  entries: Entry[];
}

const MOST_RUNS = 8;
const MOST_HOSTS = 9;
const MOST_HELP = 6;

/**
 * What fits the words: actions of the page first, then runs, then pages, help last. `>` asks for actions
 * only, `?` for help only.
 */
export function entries(words: string): Group[] {
  const only = words.startsWith(">");
  const help = words.startsWith("?");
  const wanted = words.replace(/^[>?]/, "").trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text: string) => {
    const lower = text.toLocaleLowerCase();
    return wanted.every((word) => lower.includes(word));
  };
  if (help) return filled([{ title: t("ui.palette.help"), entries: helpEntries(fits) }]);
  const groups: Group[] = [
    { title: t("ui.palette.actions"), entries: actions().filter((entry) => fits(entry.title)) },
  ];
  if (!only) {
    groups.push({
      title: t("ui.palette.runs"),
      entries: runs.list
        .filter((run) => fits(run.text))
        .slice(0, MOST_RUNS)
        .map((run) => ({
          id: `run-${run.id}`,
          title: firstLine(run.text),
          status: run.status,
          run: () => router.go({ name: "run", id: run.id }),
        })),
    });
    groups.push({
      title: t("ui.palette.pages"),
      entries: sections()
        .map((section) => page(t(section.label), section.route))
        .filter((entry) => fits(entry.title)),
    });
    // Every row of the settings, once something is looked for: there are too many to read through.
    if (wanted.length > 0 && exists("settings")) {
      groups.push({
        title: t("ui.nav.settings"),
        entries: find(words, t)
          .slice(0, MOST_RUNS)
          .map((row) => ({
            id: `setting-${idOf(row)}`,
            title: t(row.label),
            run: () => router.go({ name: "settings", section: row.section, row: idOf(row) }),
          })),
      });
    }
    if (wanted.length > 0 && exists("hosts")) {
      groups.push({
        title: t("ui.nav.hosts"),
        entries: hostEntries()
          .filter((entry) => fits(entry.title))
          .slice(0, MOST_HOSTS),
      });
    }
    if (wanted.length > 0) {
      groups.push({
        title: t("ui.palette.help"),
        entries: helpEntries(fits).slice(0, MOST_HELP),
      });
    }
  }
  return filled(groups);
}

function filled(groups: Group[]): Group[] {
  return groups.filter((group) => group.entries.length > 0);
}

/** What is told about pages, found by every word of it, and the keys with what they do. */
function helpEntries(fits: (text: string) => boolean): Entry[] {
  const contexts = Object.keys(NAMES) as Context[];
  const pages = contexts
    .map((context) => ({
      context,
      title: t("ui.help.of", { page: t(NAMES[context]) }),
      text: t(`ui.help.${context}` satisfies MessageKey),
    }))
    .filter(({ title, text }) => fits(`${title} ${text}`))
    .map(({ context, title }): Entry => ({
      id: `help-${context}`,
      title,
      run: () => showHelp(context),
    }));
  const keys = (Object.entries(COMMANDS) as [CommandId, Binding][])
    .map(([id, { keys, context }]) => ({
      id,
      context,
      key: keys[0],
      title: t(`ui.command.${id}` satisfies MessageKey),
    }))
    .filter(({ key, title }) => key !== undefined && fits(title))
    .map(({ id, context, key, title }): Entry => ({
      id: `help-key-${id}`,
      title,
      key,
      run: () => showHelp(context),
    }));
  return [...pages, ...keys];
}

/** Hosts that are here, each with what can be begun with it. */
function hostEntries(): Entry[] {
  return hostNames.list.flatMap(({ host, name, state }) => {
    const entry = (title: string, act?: HostAct): Entry => ({
      id: `host-${host}-${act ?? "show"}`,
      title,
      run: () => router.go({ name: "hosts", id: host, ...(act ? { act } : {}) }),
    });
    const entries = [entry(t("ui.palette.host", { host: name }))];
    const registered = state === "registered" || state === "off";
    if (registered) entries.push(entry(t("ui.palette.host.test", { host: name }), "test"));
    else entries.push(entry(t("ui.palette.host.register", { host: name }), "register"));
    return entries;
  });
}

function actions(): Entry[] {
  const bindings: Record<CommandId, Binding> = COMMANDS;
  return commands.available
    .filter((id) => bindings[id].palette)
    .sort((one, other) => rank(bindings[one]) - rank(bindings[other]))
    .map((id) => ({
      id,
      title: t(`ui.command.${id}` satisfies MessageKey),
      key: bindings[id].keys[0],
      run: () => commands.run(id),
    }));
}

function rank(binding: Binding): number {
  return binding.context === "global" ? 1 : 0;
}

function page(title: string, route: Route): Entry {
  return { id: href(route), title, run: () => router.go(route) };
}
