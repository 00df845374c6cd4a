import { rpc, type Request, type Response } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import { events } from "../../lib/state/events.svelte";

export type Host = Response<"hosts_list">["hosts"][number];
export type HostState = Host["state"];
export type HostPlace = Request<"host_detail">;
export type HostChange = Request<"host_preview">;
export type HostPreview = Response<"host_preview">;
export type HostDetail = Response<"host_detail">;
export type Seen = Response<"host_verify">;
export type Client = NonNullable<Host["connected"]>;
export type SkillChange = HostPreview["skills"][number];

/** A change that is to be shown. */
export interface Wanted {
  host: Host;
  place: HostPlace;
  change: HostChange["change"];
  /** Also make the file of a host that was not found. */
  create?: boolean;
}

/** A test of an entry. */
export type Test = {
  /** When it began, Unix milliseconds. */
  at: number;
} & (
  | { state: "running"; seen: null; failure: null }
  | { state: "works"; seen: Seen; failure: null }
  | { state: "fails"; seen: null; failure: Failure }
);

/** How often the files are looked at again while the page is shown: others write them too. */
const AGAIN = 4_000;

/** The hosts of this machine as the page knows them. */
export class Hosts {
  list: Response<"hosts_list"> | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  /** The program that entries start, where it is missing or out of date. */
  stale: string | null = $state(null);
  tests: Record<string, Test> = $state({});

  /** Those that are here, those that need somebody first. */
  readonly found: readonly Host[] = $derived(
    (this.list?.hosts ?? [])
      .filter((host) => host.state !== "not_found")
      .toSorted((one, other) => Number(needs(other)) - Number(needs(one))),
  );
  readonly missing: readonly Host[] = $derived(
    (this.list?.hosts ?? []).filter((host) => host.state === "not_found"),
  );

  start(): () => void {
    void this.load();
    void this.checkProgram();
    const look = () => {
      if (!document.hidden) void this.load();
    };
    const timer = setInterval(look, AGAIN);
    document.addEventListener("visibilitychange", look);
    const stops = [
      events.on("hosts", () => {
        void this.load();
        void this.checkProgram();
      }),
      events.onReset(() => void this.load()),
      () => clearInterval(timer),
      () => document.removeEventListener("visibilitychange", look),
    ];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    try {
      const list = await rpc("hosts_list", {});
      // Rows that stay the same are not drawn again every few seconds.
      if (JSON.stringify(list) !== JSON.stringify(this.list)) this.list = list;
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
    }
  }

  async checkProgram(renew = false): Promise<void> {
    try {
      const { stale } = await rpc("host_program", { renew });
      this.stale = renew ? null : stale;
    } catch (thrown) {
      if (renew) this.failure = failureOf(thrown);
    }
  }

  /** Starts what the entry says and keeps what was seen. */
  async test(place: HostPlace): Promise<void> {
    const key = keyOf(place);
    if (this.tests[key]?.state === "running") return;
    const at = Date.now();
    this.tests[key] = { at, state: "running", seen: null, failure: null };
    try {
      const seen = await rpc("host_verify", place);
      this.tests[key] = { at, state: "works", seen, failure: null };
    } catch (thrown) {
      this.tests[key] = { at, state: "fails", seen: null, failure: failureOf(thrown) };
    }
  }
}

/** The name of a place among others. */
export function keyOf(place: HostPlace): string {
  return place.file ? `${place.host} ${place.file}` : place.host;
}

/** Something is not as it should be, and somebody has to decide. */
export function needs(host: Host): boolean {
  return ["moved", "removed", "different", "unusable"].includes(host.state);
}

export function isRegistered(host: Host): boolean {
  return ["registered", "off", "moved"].includes(host.state);
}

/** Stops waiting for what goes on with a file of a host. */
export async function giveUp(place: HostPlace): Promise<void> {
  try {
    await rpc("host_give_up", place);
  } catch {
    // What goes on says itself how it ends.
  }
}

/** There is something that can be tried. */
export function canTest(host: Host): boolean {
  return host.state === "registered" || host.state === "off";
}

/** How a state is drawn; a word says it as well. */
export function healthOf(state: HostState): "ok" | "warning" | "problem" | "off" {
  switch (state) {
    case "registered":
      return "ok";
    case "moved":
    case "removed":
    case "different":
      return "warning";
    case "unusable":
      return "problem";
    default:
      return "off";
  }
}

/** A program with its arguments, as it would be typed. */
export function typed(launch: { command: string; args: string[] }): string {
  return [launch.command, ...launch.args]
    .map((part) => (/[\s"']/.test(part) ? JSON.stringify(part) : part))
    .join(" ");
}
