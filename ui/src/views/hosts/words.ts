import { t, type MessageKey } from "../../lib/i18n.svelte";
import { agoInWords } from "../../lib/format";
import { isRegistered, type Client, type Host, type HostChange } from "./hosts.svelte";

/** Something that can be done about a host's file. */
export interface HostAction {
  id: string;
  label: MessageKey;
  change: HostChange["change"];
  create?: boolean;
  /** It is what one would do first. */
  primary?: boolean;
}

/** What can be done about a host's file as it is now, the first thing first. */
export function actionsOf(host: Host): HostAction[] {
  const actions: HostAction[] = [];
  const first = registerLabel(host);
  if (first) {
    actions.push({
      id: "register",
      label: first,
      change: "register",
      create: host.state === "not_found",
      primary: true,
    });
  }
  if (host.state === "removed") {
    actions.push({ id: "forget", label: "ui.hosts.forget", change: "unregister" });
  }
  if (isRegistered(host)) {
    actions.push({ id: "unregister", label: "ui.hosts.unregister", change: "unregister" });
  }
  if (host.undoable !== null) actions.push({ id: "undo", label: "ui.hosts.undo", change: "undo" });
  return actions;
}

/** What can be done about our skills in a host's folder. */
export function skillActionsOf(host: Host): HostAction[] {
  const has = (...states: Host["skills"][number]["state"][]) =>
    host.skills.some(({ state }) => states.includes(state));
  const actions: HostAction[] = [];
  if (has("absent")) {
    actions.push({ id: "install", label: "ui.hosts.skills.install", change: "install_skills" });
  } else if (has("outdated")) {
    actions.push({ id: "renew", label: "ui.hosts.skills.renew", change: "install_skills" });
  }
  if (has("current", "outdated")) {
    actions.push({ id: "remove", label: "ui.hosts.skills.remove", change: "remove_skills" });
  }
  return actions;
}

/** How our skills stand with a host, in a word or two; null where there are none. */
export function skillsWord(host: Host): string | null {
  const there = host.skills.filter(({ state }) => ["current", "outdated"].includes(state));
  if (there.length === 0) return null;
  if (there.some(({ state }) => state === "outdated")) return t("ui.hosts.skills.outdated");
  return there.length < host.skills.length
    ? t("ui.hosts.skills.some")
    : t("ui.hosts.skills.current");
}

/** How long ago a program connected. */
export function age(client: Client, now: number): string {
  return agoInWords(now - client.at) ?? t("ui.hosts.connected.now");
}

/** What a program calls itself, with its version. */
export function called(client: Client): string {
  return [client.name || "?", client.version].filter(Boolean).join(" ");
}

/** A path in the person's home folder, as a terminal shortens it. */
export function tilde(path: string, home: string | undefined): string {
  const rest = home && path.startsWith(home) ? path.slice(home.length) : "";
  return /^[/\\]/.test(rest) ? `~${rest}` : path;
}

function registerLabel(host: Host): MessageKey | null {
  switch (host.state) {
    case "not_found":
      return "ui.hosts.register_anyway";
    case "not_registered":
      return "ui.hosts.register";
    case "moved":
      return "ui.hosts.repair";
    case "removed":
      return "ui.hosts.register_again";
    case "different":
      return "ui.hosts.compare";
    case "unusable":
      return "ui.hosts.by_hand.button";
    case "registered":
    case "off":
      return null;
  }
}
