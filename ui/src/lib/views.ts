import type { Component } from "svelte";
import { spoken } from "./i18n.svelte";
import type { Route, RouteName } from "./router.svelte";

/** A page: gets the route it is shown for. */
export type View = Component<{ route: Route }>;

type Loader = () => Promise<{ default: View }>;

/** Pages beyond the first two come when they are wanted. */
const LATER = import.meta.glob<{ default: View }>([
  "../views/approvals/ApprovalsView.svelte",
  "../views/insights/InsightsView.svelte",
  "../views/hosts/HostsView.svelte",
  "../views/diagnostics/DiagnosticsView.svelte",
  "../views/settings/SettingsView.svelte",
  "../views/welcome/WelcomeView.svelte",
]);

/** Loads a page; none where it is not part of this build. */
export function loaderOf(name: RouteName): Loader | undefined {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const load = LATER[`../views/${name}/${title}View.svelte`];
  return load && (() => spoken(load()));
}

/** Whether there is such a page. */
export function exists(name: RouteName): boolean {
  return name === "tasks" || name === "run" || loaderOf(name) !== undefined;
}
