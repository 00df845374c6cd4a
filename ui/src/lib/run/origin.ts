import { t } from "../i18n.svelte";

/** Where a task came from: `app`, `cli`, `demo`, `host:NAME`, `channel:NAME`. */
export function originText(origin: string): string {
  const [kind = "", name = ""] = origin.split(/:(.*)/s);
  switch (kind) {
    case "app":
      return t("ui.origin.app");
    case "cli":
      return t("ui.origin.cli");
    case "demo":
      return t("ui.origin.demo");
    default:
      return name ? t("ui.origin.from", { name }) : origin;
  }
}
