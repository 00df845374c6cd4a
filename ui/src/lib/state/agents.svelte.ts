import { rpc, type Response } from "../api";
import { failureOf, type Failure } from "../backend/backend";
import { events } from "./events.svelte";

/** The server through which other agents reach the app over HTTP. */
class Agents {
  server: Response<"mcp_server"> | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);

  /** Keeps it true until the returned function is called. */
  start(): () => void {
    const load = () => void this.load();
    load();
    const stops = [events.on("mcp", load), events.on("settings", load), events.onReset(load)];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    try {
      this.server = await rpc("mcp_server", {});
      this.failure = null;
    } catch (thrown) {
      this.failure = failureOf(thrown);
    }
  }
}

export const agents = new Agents();
