import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { detail, host, preview, refused } from "../../../tests/host-samples";
import { appState } from "../../../tests/samples";
import { useBackend } from "../../lib/api";
import { router, type Route } from "../../lib/router.svelte";
import { clock } from "../../lib/state/clock.svelte";
import { events } from "../../lib/state/events.svelte";
import { program } from "../../lib/state/program.svelte";
import HostsView from "./HostsView.svelte";
import type { Client, Host, SkillChange } from "./hosts.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let list: Host[];
let strangers: Client[];

const BOTH = ["delegate-task", "skill-discovery"];
const skills = (state: Host["skills"][number]["state"]): Host["skills"] =>
  BOTH.map((skill) => ({ skill, folder: `/home/ana/.codex/skills/${skill}`, state }));
const change = (effect: SkillChange["effect"]): SkillChange[] =>
  BOTH.map((skill) => ({
    skill,
    folder: `/home/ana/.codex/skills/${skill}`,
    effect,
    backup: null,
    diff: [{ row: "added", old: null, new: 1, text: `name: ${skill}` }],
    problem: null,
  }));
const client = (name: string, ago: number): Client => ({
  name,
  version: "1.2",
  protocol: "2025-11-25",
  at: Date.now() - ago,
});

beforeAll(async () => {
  await Promise.all([import("./ChangeDialog.svelte"), import("./AddDialog.svelte")]);
}, 60_000);
beforeEach(async () => {
  clock.now = Date.now();
  list = [host("codex", "registered"), host("cursor", "not_registered")];
  strangers = [];
  backend = new FakeBackend({
    app_state: () => appState(),
    hosts_list: () => ({ hosts: list, others: [], strangers }),
    host_program: () => ({ stale: null }),
    host_detail: () => detail({ canTrust: true }),
    host_preview: ({ change: what, skills: with_ }) =>
      preview({
        effect: what === "register" ? "add" : what === "undo" ? "undo" : "nothing",
        ...(what === "register" || what === "undo" ? {} : { diff: [], backup: null }),
        skills:
          what === "install_skills" || (what === "register" && with_)
            ? change("install")
            : what === "remove_skills" || (what === "undo" && with_)
              ? change("remove")
              : [],
      }),
    host_give_up: () => ({}),
  });
  backend.answers.host_change = ({ request }) => ({
    made: true,
    preview: backend.answers.host_preview?.(request) ?? preview(),
  });
  useBackend(backend);
  await program.load();
});
afterEach(() => vi.useRealTimers());

function open(route: Route = { name: "hosts" }) {
  return render(HostsView, { props: { route } });
}

const press = (name: string | RegExp) =>
  screen.findByRole("button", { name }).then((found) => user.click(found));
const dialog = async () => within(await screen.findByRole("dialog"));

describe("a host that connected", () => {
  /** When that was is told in its row, what it calls itself in its details, and others on their own. */
  it("is told with when and as what", async () => {
    list = [host("codex", "registered", { connected: client("codex-mcp-client", 130_000) })];
    strangers = [client("some <b>tool</b>", 5_000)];
    open({ name: "hosts", id: "codex" });
    const found = within(await screen.findByRole("list", { name: "Hosts on this machine" }));
    expect(found.getByText("connected 2 minutes ago")).toBeTruthy();
    const panel = within(await screen.findByRole("complementary", { name: "Details: CODEX" }));
    expect(await panel.findByText(/It calls itself codex-mcp-client 1.2/)).toBeTruthy();
    expect(panel.getByText(/Protocol 2025-11-25/)).toBeTruthy();
    const others = within(screen.getByRole("list", { name: "Other programs that connected" }));
    expect(others.getByText("some <b>tool</b> 1.2")).toBeTruthy();
    expect(others.getByText("connected a moment ago")).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** After a test the page waits for the host itself, and hears of it without being asked. */
  it("is waited for after a test", async () => {
    const stop = events.start(0);
    list = [host("codex", "registered", { connected: client("codex-mcp-client", 60_000) })];
    backend.answers.host_verify = () => ({
      started: { command: "/usr/bin/openspace", args: ["mcp"], variables: [] },
      variables: ["HOME"],
      server: "openspace 0.1.0",
      protocol: "2025-11-25",
      tools: ["execute_task"],
      called: "task_status",
      callFailed: true,
      answer: "no such task",
      noise: [],
      firstAnswerMs: 31,
      ended: true,
    });
    open({ name: "hosts", id: "codex" });
    const panel = within(await screen.findByRole("complementary", { name: "Details: CODEX" }));
    await user.click(await panel.findByRole("button", { name: "Test connection" }));
    expect(await panel.findByText(/Waiting for CODEX to connect/)).toBeTruthy();
    expect(await violations()).toEqual([]);
    list = [host("codex", "registered", { connected: client("codex-mcp-client", -5) })];
    backend.tell({
      id: 9,
      topic: "hosts",
      key: "codex",
      seq: 1,
      at: Date.now(),
      kind: "hosts.connected",
      v: 1,
      payload: {},
    });
    expect(await panel.findByText("CODEX is connected.")).toBeTruthy();
    expect(panel.queryByText(/Waiting for CODEX/)).toBeNull();
    stop();
  });
});

describe("skills", () => {
  /** They are a choice of the registration, shown like the entry, and go again with it. */
  it("come with the registration when asked for", async () => {
    list = [host("codex", "not_registered", { skills: skills("absent") })];
    open();
    await press("Register… CODEX");
    const shown = await dialog();
    await shown.findByRole("button", { name: "Write change" });
    expect(shown.queryByText(/is put into the folder/)).toBeNull();
    await user.click(await shown.findByRole("switch", { name: "Also install two skills" }));
    await user.click(
      await shown.findByText("The skill delegate-task is put into the folder of CODEX."),
    );
    const lines = await shown.findByRole("region", {
      name: "The skill delegate-task, line by line",
    });
    expect(lines.textContent).toContain("name: delegate-task");
    expect(await violations()).toEqual([]);
    await press("Write change");
    expect(await shown.findByText(/The skill skill-discovery was put into/)).toBeTruthy();
    expect(backend.requests("host_change").at(-1)?.request.skills).toBe(true);
    await press("Undo the last change…");
    expect(await shown.findByText(/The skill delegate-task is removed/)).toBeTruthy();
    expect(backend.requests("host_preview").at(-1)).toMatchObject({ change: "undo", skills: true });
    expect(await violations()).toEqual([]);
  });

  /** What is there of them is told, and each state offers what fits it. */
  it("are told and changed by themselves", async () => {
    list = [
      host("codex", "registered", { skills: skills("outdated") }),
      host("cursor", "registered", { skills: skills("current") }),
      host("gemini", "registered", { skills: skills("absent") }),
      host("kiro", "registered", { skills: skills("foreign") }),
    ];
    const { rerender } = open({ name: "hosts", id: "codex" });
    await screen.findByText("skills of an earlier version");
    expect(screen.getByText("with both skills")).toBeTruthy();
    const offered = async (id: string) => {
      await rerender({ route: { name: "hosts", id } });
      const name = `Details: ${id.toUpperCase()}`;
      const panel = within(await screen.findByRole("complementary", { name }));
      await panel.findByText("delegate-task");
      return panel
        .queryAllByRole("button", { name: /skills…/ })
        .map((button) => button.textContent.trim());
    };
    expect(await offered("cursor")).toEqual(["Remove skills…"]);
    expect(await offered("kiro")).toEqual([]);
    expect(await offered("gemini")).toEqual(["Install skills…"]);
    expect(await offered("codex")).toEqual(["Renew skills…", "Remove skills…"]);
    await press("Remove skills…");
    const shown = await dialog();
    expect(
      await shown.findByText("The skill delegate-task is removed; a copy of it is kept."),
    ).toBeTruthy();
    expect(await violations()).toEqual([]);
    await press("Remove skills");
    expect(await shown.findByText("The skills of CODEX are as wished.")).toBeTruthy();
    expect(backend.requests("host_change").at(-1)?.request).toMatchObject({
      place: { host: "codex" },
      change: "remove_skills",
    });
    expect(shown.queryByRole("button", { name: "Undo the last change…" })).toBeNull();
  });

  /** One that is in the way is told and keeps the rest from nothing. */
  it("that are somebody else's are left alone", async () => {
    list = [host("codex", "not_registered", { skills: skills("absent") })];
    const problem = {
      code: "wrong_state" as const,
      params: { reason: "foreign_skill", file: "/s/delegate-task", skill: "delegate-task" },
      message: "not ours",
      retryable: false,
    };
    backend.answers.host_preview = () =>
      preview({
        skills: change("install").map((skill) =>
          skill.skill === "delegate-task"
            ? { ...skill, effect: "nothing", diff: [], problem }
            : skill,
        ),
      });
    open();
    await press("Register… CODEX");
    const shown = await dialog();
    expect(await shown.findByText(/The skill delegate-task is left alone/)).toBeTruthy();
    expect(shown.getByText(/\/s\/delegate-task is not ours/)).toBeTruthy();
    expect(shown.getByRole("button", { name: "Write change" })).toBeTruthy();
    expect(await violations()).toEqual([]);
  });
});

describe("what takes long", () => {
  /** Is in words after a second and can be given up after five. */
  it("can be given up", async () => {
    open();
    await press("Register… CURSOR");
    await screen.findByRole("button", { name: "Write change" });
    let refuse: () => void = () => undefined;
    backend.call = ((call) => (name: never, request: never) => {
      if (name !== "host_change") return call.call(backend, name, request);
      return new Promise((_, reject) => {
        refuse = () => {
          try {
            refused("stopped", { host: "CURSOR", file: "/f" });
          } catch (thrown) {
            reject(thrown as Error);
          }
        };
      });
    })(backend.call) as typeof backend.call;
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const shown = await dialog();
    screen.getByRole("button", { name: "Write change" }).click();
    await vi.advanceTimersByTimeAsync(900);
    expect(shown.queryByText(/is being asked/)).toBeNull();
    await vi.advanceTimersByTimeAsync(300);
    expect(shown.getByText(/CURSOR is being asked whether it accepts the file/)).toBeTruthy();
    expect(shown.queryByRole("button", { name: "Stop waiting" })).toBeNull();
    await vi.advanceTimersByTimeAsync(4_000);
    shown.getByRole("button", { name: "Stop waiting" }).click();
    await vi.advanceTimersByTimeAsync(0);
    expect(backend.requests("host_give_up")).toEqual([{ host: "cursor" }]);
    refuse();
    await vi.advanceTimersByTimeAsync(50);
    expect(shown.getByText(/CURSOR was not waited for/)).toBeTruthy();
    expect(shown.queryByRole("button", { name: "Stop waiting" })).toBeNull();
  });
});

describe("an agent of one's own", () => {
  /** It is named with its file, and its registration is shown at once. */
  it("is added", async () => {
    backend.answers.host_add = ({ name }) => {
      list = [...list, host("my-agent", "not_registered", { name, custom: true })];
      return { host: "my-agent" };
    };
    const { rerender } = open();
    await press("Add an agent…");
    const shown = await dialog();
    const add = () => shown.getByRole<HTMLButtonElement>("button", { name: "Add" });
    expect(add().disabled).toBe(true);
    await user.type(shown.getByLabelText("Name"), "My Agent");
    await user.type(shown.getByLabelText("Its configuration file"), "~/.my/conf.toml");
    expect(shown.getByRole<HTMLSelectElement>("combobox").value).toBe("toml");
    await user.clear(shown.getByLabelText("Where its servers are"));
    await user.type(shown.getByLabelText("Where its servers are"), "tools.servers");
    expect(await violations()).toEqual([]);
    await user.click(add());
    await waitFor(() => expect(location.hash).toBe("#/hosts/my-agent?act=register"));
    expect(backend.requests("host_add")).toEqual([
      { name: "My Agent", file: "~/.my/conf.toml", format: "toml", key: "tools.servers" },
    ]);
    await rerender({ route: { name: "hosts", id: "my-agent", act: "register" } });
    expect(await screen.findByRole("dialog", { name: "Register with My Agent" })).toBeTruthy();
    await waitFor(() => expect(location.hash).toBe("#/hosts/my-agent"));
    router.read();
  });

  /** What makes no sense stays in the fields, with what is wrong about it. */
  it("is refused with the reason", async () => {
    backend.answers.host_add = () => refused("custom_file");
    open();
    await press("Add an agent…");
    const shown = await dialog();
    await user.type(shown.getByLabelText("Name"), "x");
    await user.type(shown.getByLabelText("Its configuration file"), "conf.json");
    await press("Add");
    expect(await shown.findByText(/A file is named by its whole path/)).toBeTruthy();
    expect(shown.getByText(/For example/)).toBeTruthy();
    expect(shown.getByLabelText<HTMLInputElement>("Its configuration file").value).toBe(
      "conf.json",
    );
    expect(await violations()).toEqual([]);
  });

  /** It can be forgotten while nothing of us is in its file. Why it could not goes with the next try. */
  it("is forgotten", async () => {
    list = [host("my-agent", "registered", { name: "My Agent", custom: true })];
    const { rerender } = open({ name: "hosts", id: "my-agent" });
    const panel = within(await screen.findByRole("complementary", { name: "Details: My Agent" }));
    expect(panel.getByText("You named this agent.")).toBeTruthy();
    expect(panel.queryByRole("button", { name: "Forget this agent" })).toBeNull();
    // Our entry may be in it, though nobody can say whether.
    list = [host("my-agent", "unusable", { name: "My Agent", custom: true })];
    document.dispatchEvent(new Event("visibilitychange"));
    await panel.findByText("its file cannot be used");
    expect(panel.queryByRole("button", { name: "Forget this agent" })).toBeNull();
    const free = { name: "My Agent", custom: true, forgettable: true };
    list = [host("my-agent", "not_registered", free)];
    backend.answers.host_forget = () => refused("still_registered", { file: "/f" });
    document.dispatchEvent(new Event("visibilitychange"));
    await user.click(await panel.findByRole("button", { name: "Forget this agent" }));
    expect(await screen.findByText("The agent was not forgotten.")).toBeTruthy();
    backend.answers.host_forget = () => {
      list = [];
      return {};
    };
    await user.click(panel.getByRole("button", { name: "Forget this agent" }));
    await waitFor(() => expect(screen.queryByText("The agent was not forgotten.")).toBeNull());
    expect(backend.requests("host_forget")).toEqual(Array(2).fill({ host: "my-agent" }));
    await rerender({ route: { name: "hosts" } });
    await waitFor(() => expect(screen.queryByText("My Agent")).toBeNull());
  });
});

/** Another page may begin something here, once. */
it("begins what another page wanted", async () => {
  location.hash = "#/hosts/cursor?act=register";
  open({ name: "hosts", id: "cursor", act: "register" });
  expect(await screen.findByRole("dialog", { name: "Register with CURSOR" })).toBeTruthy();
  expect(location.hash).toBe("#/hosts/cursor");
  location.hash = "";
  router.read();
});
