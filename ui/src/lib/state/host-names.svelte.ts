import { rpc, type Response } from "../api";

type Host = Response<"hosts_list">["hosts"][number];

/** The hosts on this machine, for whoever names them away from their page. */
class HostNames {
  list: readonly Pick<Host, "host" | "name" | "state">[] = $state.raw([]);
  /** The list was answered once. */
  known = $state(false);

  /** Asks again; what was known stays until the answer is there. */
  async load(): Promise<void> {
    try {
      const { hosts } = await rpc("hosts_list", {});
      this.list = hosts.filter(({ state }) => state !== "not_found");
      this.known = true;
    } catch {
      // Their page says why; here they are only missing.
    }
  }
}

export const hostNames = new HostNames();
