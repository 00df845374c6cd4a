import { CallFailed, type Failure } from "../src/lib/backend/backend";
import type { Host, HostDetail, HostPreview, HostState } from "../src/views/hosts/hosts.svelte";
import { failure } from "./fake-backend";

export function host(id: string, state: HostState, over: Partial<Host> = {}): Host {
  const registered = ["registered", "off", "moved"].includes(state);
  return {
    host: id,
    name: id.toUpperCase(),
    state,
    file: `/home/ana/.${id}/config`,
    foundBy: state === "not_found" ? null : `/usr/bin/${id}`,
    starts: registered ? { command: "/usr/bin/openspace", args: ["mcp"], variables: [] } : null,
    startsAnother: false,
    otherEntry: null,
    problem: null,
    undoable: null,
    custom: false,
    forgettable: false,
    connected: null,
    skills: [],
    ...over,
  };
}

export function preview(over: Partial<HostPreview> = {}): HostPreview {
  return {
    host: "codex",
    name: "CODEX",
    file: "/home/ana/.codex/config",
    format: "TOML",
    effect: "add",
    newFile: false,
    removesFile: false,
    trusts: false,
    backup: "/home/ana/.codex/config.openspace-1.bak",
    otherServers: 3,
    diff: [
      { row: "gap", old: null, new: null, text: "" },
      { row: "same", old: 9, new: 9, text: "[a]" },
      { row: "added", old: null, new: 10, text: "[mcp_servers.openspace]" },
    ],
    skills: [],
    fingerprint: "first",
    ...over,
  };
}

export function detail(over: Partial<HostDetail> = {}): HostDetail {
  return {
    host: host("codex", "not_registered"),
    format: "TOML",
    projectFile: null,
    timeoutKey: "tool_timeout_sec",
    timeout: 600,
    canTrust: false,
    mostTools: null,
    skills: "/home/ana/.codex/skills",
    skillsThere: false,
    wouldStart: { command: "/usr/bin/openspace", args: ["mcp"], variables: [] },
    entry: '{"command":"/usr/bin/openspace"}',
    snippet: "[mcp_servers.openspace]\n",
    lends: [],
    refuses: [],
    ...over,
  };
}

export function refused(reason: string, params: Record<string, string> = {}): never {
  const told: Failure = { ...failure(reason, "unavailable"), params: { reason, ...params } };
  throw new CallFailed(told);
}
