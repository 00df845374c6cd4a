import Activity from "@lucide/svelte/icons/activity";
import Cable from "@lucide/svelte/icons/cable";
import ChartNoAxesColumn from "@lucide/svelte/icons/chart-no-axes-column";
import ListChecks from "@lucide/svelte/icons/list-checks";
import Settings from "@lucide/svelte/icons/settings-2";
import type { Component } from "svelte";
import type { MessageKey } from "../lib/i18n.svelte";
import type { Route, RouteName } from "../lib/router.svelte";
import { exists } from "../lib/views";

/** An entry of the sidebar. */
export interface Section {
  route: Route;
  /** Pages below it. */
  names: readonly RouteName[];
  label: MessageKey;
  icon: Component<{ size?: number; strokeWidth?: number; "aria-hidden"?: "true" }>;
  group: "work" | "connect" | "system";
}

const ALL: readonly Section[] = [
  {
    route: { name: "tasks" },
    names: ["tasks", "run", "approvals"],
    label: "ui.nav.tasks",
    icon: ListChecks,
    group: "work",
  },
  {
    route: { name: "insights" },
    names: ["insights"],
    label: "ui.nav.insights",
    icon: ChartNoAxesColumn,
    group: "work",
  },
  {
    route: { name: "hosts" },
    names: ["hosts"],
    label: "ui.nav.hosts",
    icon: Cable,
    group: "connect",
  },
  {
    route: { name: "diagnostics" },
    names: ["diagnostics"],
    label: "ui.nav.diagnostics",
    icon: Activity,
    group: "system",
  },
  {
    route: { name: "settings", section: "general" },
    names: ["settings"],
    label: "ui.nav.settings",
    icon: Settings,
    group: "system",
  },
];

/** The entries whose pages are part of this build. */
export function sections(): readonly Section[] {
  return ALL.filter((section) => exists(section.route.name));
}
