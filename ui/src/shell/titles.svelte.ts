import { t } from "../lib/i18n.svelte";
import type { Route } from "../lib/router.svelte";
import { runs } from "../lib/state/runs.svelte";

/** What a page is called, in the bar at the top and in the title of the window. */
export function titleOf(route: Route): string {
  switch (route.name) {
    case "tasks":
      return t("ui.nav.tasks");
    case "run":
      return firstLine(runs.get(route.id)?.text ?? "") || t("ui.run.title");
    case "approvals":
      return t("ui.nav.approvals");
    case "insights":
      return t("ui.nav.insights");
    case "diagnostics":
      return t("ui.nav.diagnostics");
    case "settings":
      return t("ui.nav.settings");
    case "welcome":
      return t("ui.nav.welcome");
    case "missing":
      return t("ui.missing.title");
  }
}

/** The first line of a text, shortened to so many characters. */
export function firstLine(text: string, most = 80): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
