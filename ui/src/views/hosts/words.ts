import type { MessageKey } from "../../lib/i18n.svelte";
import { isRegistered, type Host, type HostChange } from "./hosts.svelte";

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
