import { t, type MessageKey } from "../lib/i18n.svelte";
import { COMMANDS, type Binding, type CommandId } from "../lib/keymap";
import { href, router, type HostAct, type Route } from "../lib/router.svelte";
import type { Status } from "../lib/run/status";
import { commands } from "../lib/state/commands.svelte";
import { hostNames } from "../lib/state/host-names.svelte";
import { runs } from "../lib/state/runs.svelte";
import { exists } from "../lib/views";
import { find, idOf } from "../views/settings/rows";
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

/** What fits the words: actions of the page first, then runs, then pages. `>` asks for actions only. */
export function entries(words: string): Group[] {
  const only = words.startsWith(">");
  const wanted = words.replace(/^>/, "").trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text: string) => {
    const lower = text.toLocaleLowerCase();
    return wanted.every((word) => lower.includes(word));
  };
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
            run: () => router.go({ name: "settings", section: row.section }),
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
  }
  return groups.filter((group) => group.entries.length > 0);
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
