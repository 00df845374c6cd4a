/** Every page there is. */
export type Route =
  | { name: "tasks"; compose?: boolean }
  | { name: "run"; id: string; step?: number }
  | { name: "approvals"; id?: string }
  | { name: "insights" }
  | { name: "hosts"; id?: string; file?: string; act?: HostAct }
  | { name: "diagnostics" }
  | { name: "settings"; section: string; row?: string }
  | { name: "welcome"; step?: string }
  | { name: "missing"; address: string };

/** What is begun with a host as soon as its page is there. */
export type HostAct = (typeof ACTS)[number];
const ACTS = ["register", "test"] as const;

export type RouteName = Route["name"];

/** The page behind a hash such as `#/runs/abc?step=3`. */
export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decode);
  const parameters = new URLSearchParams(query);
  const [first, second] = parts;
  switch (first) {
    case undefined:
    case "tasks":
      return second === "new" ? { name: "tasks", compose: true } : { name: "tasks" };
    case "runs": {
      if (!second) return { name: "tasks" };
      const step = Number.parseInt(parameters.get("step") ?? "", 10);
      return Number.isNaN(step) ? { name: "run", id: second } : { name: "run", id: second, step };
    }
    case "approvals":
      return second ? { name: "approvals", id: second } : { name: "approvals" };
    case "insights":
      return { name: "insights" };
    case "hosts": {
      if (!second) return { name: "hosts" };
      const file = parameters.get("file");
      const act = ACTS.find((act) => act === parameters.get("act"));
      return { name: "hosts", id: second, ...(file ? { file } : {}), ...(act ? { act } : {}) };
    }
    case "diagnostics":
      return { name: "diagnostics" };
    case "settings":
      return {
        name: "settings",
        section: second ?? "general",
        ...(parameters.get("row") ? { row: parameters.get("row") ?? "" } : {}),
      };
    case "welcome":
      return second ? { name: "welcome", step: second } : { name: "welcome" };
    default:
      return { name: "missing", address: path };
  }
}

/** The hash of a page; the inverse of [parse]. */
export function href(route: Route): string {
  switch (route.name) {
    case "tasks":
      return route.compose ? "#/tasks/new" : "#/tasks";
    case "run":
      return `#/runs/${encodeURIComponent(route.id)}${route.step === undefined ? "" : `?step=${route.step}`}`;
    case "approvals":
      return route.id ? `#/approvals/${encodeURIComponent(route.id)}` : "#/approvals";
    case "insights":
      return "#/insights";
    case "hosts": {
      if (!route.id) return "#/hosts";
      const words = [
        route.file ? `file=${encodeURIComponent(route.file)}` : "",
        route.act ? `act=${route.act}` : "",
      ].filter(Boolean);
      return `#/hosts/${encodeURIComponent(route.id)}${words.length > 0 ? `?${words.join("&")}` : ""}`;
    }
    case "diagnostics":
      return "#/diagnostics";
    case "settings":
      return `#/settings/${encodeURIComponent(route.section)}${route.row ? `?row=${encodeURIComponent(route.row)}` : ""}`;
    case "welcome":
      return route.step ? `#/welcome/${encodeURIComponent(route.step)}` : "#/welcome";
    case "missing":
      return `#${route.address}`;
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class Router {
  route: Route = $state.raw({ name: "tasks" });

  /** Follows the address until the returned function is called. */
  start(): () => void {
    const read = () => this.read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }

  /** Takes the page from the address. */
  read(): void {
    this.route = parse(location.hash);
  }

  go(route: Route): void {
    location.hash = href(route);
  }

  /** The same without a step to go back to. */
  replace(route: Route): void {
    history.replaceState(history.state, "", href(route));
    this.read();
  }
}

export const router = new Router();
