import { rpc } from "../lib/api";
import { failureTitle, notDone } from "../lib/failure";
import { failureOf } from "../lib/backend/backend";
import { t } from "../lib/i18n.svelte";
import type { Context } from "../lib/keymap";
import { router } from "../lib/router.svelte";
import { appearance } from "../lib/state/appearance.svelte";
import { approvals } from "../lib/state/approvals.svelte";
import type { commands } from "../lib/state/commands.svelte";
import { toasts } from "../lib/state/toasts.svelte";
import { sections } from "./sections";

/** Which layers lie over the page. */
export const layers: { palette: boolean; help: boolean; about: Context | null } = $state({
  palette: false,
  help: false,
  /** The page that help is about; the one that is shown without it. */
  about: null,
});

/** Shows help about a page, or about the one that is shown. */
export function showHelp(about: Context | null = null): void {
  layers.about = about;
  layers.help = true;
}

/** Stops everything that is going, whatever the page shows. */
export async function stopAll(): Promise<void> {
  try {
    const { runs } = await rpc("runs_stop_all", {});
    toasts.show(t("ui.stopped", { count: runs.length }));
  } catch (thrown) {
    toasts.show(notDone(t("ui.stop.failed"), failureOf(thrown)), { tone: "danger" });
  }
}

/** Starts the recorded demo, on a display of its own so that the person keeps the mouse. */
export async function startDemo(): Promise<void> {
  try {
    const { run } = await rpc("demo_start", { private: true });
    router.go({ name: "run", id: run });
  } catch (thrown) {
    toasts.show(`${t("ui.demo.failed")} ${failureTitle(failureOf(thrown))}`, { tone: "danger" });
  }
}

let turn = 0;

/** Moves the focus to the next open question and goes where it is. */
function nextApproval(): void {
  const open = approvals.open;
  if (open.length === 0) {
    toasts.show(t("ui.approvals.none"));
    return;
  }
  const next = open[turn++ % open.length];
  if (next) router.go({ name: "approvals", id: next.id });
}

/** Moves the focus to the next landmark. */
function nextRegion(): void {
  const regions = [
    ...document.querySelectorAll<HTMLElement>("[data-region], nav, header.top, footer"),
  ].filter((region) => region.offsetParent !== null);
  const here = regions.findLastIndex((region) => region.contains(document.activeElement));
  const next = regions[(here + 1) % regions.length];
  if (!next) return;
  if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus();
}

function section(index: number): () => void {
  return () => {
    const found = sections()[index];
    if (found) router.go(found.route);
  };
}

/** What works everywhere. */
export const globalCommands: Parameters<typeof commands.provide>[0] = {
  palette: () => (layers.palette = true),
  help: () => showHelp(),
  newTask: () => router.go({ name: "tasks", compose: true }),
  stopAll: () => void stopAll(),
  settings: () => router.go({ name: "settings", section: "general" }),
  sidebar: () =>
    appearance.set({ sidebar: appearance.look.sidebar === "wide" ? "narrow" : "wide" }),
  section1: section(0),
  section2: section(1),
  section3: section(2),
  section4: section(3),
  section5: section(4),
  region: nextRegion,
  nextApproval,
  focusStop: () => document.querySelector<HTMLElement>("[data-stop]")?.focus(),
  zoomIn: () => appearance.zoomBy(1),
  zoomOut: () => appearance.zoomBy(-1),
  zoomReset: () => appearance.set({ zoom: 100 }),
  theme: () => appearance.set({ theme: appearance.theme === "dark" ? "light" : "dark" }),
  demo: () => void startDemo(),
  welcome: () => router.go({ name: "welcome" }),
};
