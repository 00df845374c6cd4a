import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { detail, host, preview, refused } from "../../../tests/host-samples";
import { appState } from "../../../tests/samples";
import { useBackend } from "../../lib/api";
import { speaker } from "../../lib/i18n.svelte";
import { router, type Route } from "../../lib/router.svelte";
import { commands } from "../../lib/state/commands.svelte";
import { program } from "../../lib/state/program.svelte";
import HostsView from "./HostsView.svelte";
import type { Client, Host } from "./hosts.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let list: Host[];
let others: Host[];
let strangers: Client[];

// It is loaded when it is wanted, which takes long the first time.
beforeAll(async () => void (await import("./ChangeDialog.svelte")), 60_000);
beforeEach(async () => {
  list = [
    host("codex", "not_registered"),
    host("cursor", "registered", { undoable: 5 }),
    host("gemini", "different", { otherEntry: '{"command":"npx"}' }),
    host("kiro", "not_found"),
  ];
  others = [];
  strangers = [];
  backend = new FakeBackend({
    app_state: () => appState(),
    hosts_list: () => ({ hosts: list, others, strangers }),
    host_program: () => ({ stale: null }),
    host_detail: () => detail(),
    host_preview: () => preview(),
    host_change: () => ({ made: true, preview: preview() }),
  });
  useBackend(backend);
  await program.load();
});

function open(route: Route = { name: "hosts" }) {
  return render(HostsView, { props: { route } });
}

const press = (name: string) =>
  screen.findByRole("button", { name }).then((found) => user.click(found));
const dialog = async () => within(await screen.findByRole("dialog"));

describe("the list of hosts", () => {
  /** Those that need a decision come first, and each offers what fits it. */
  it("offers what fits", async () => {
    open();
    const found = within(await screen.findByRole("list", { name: "Hosts on this machine" }));
    const names = found.getAllByRole("link").map((link) => link.textContent.trim());
    expect(names).toEqual(["GEMINI", "CODEX", "CURSOR"]);
    const offered = found.getAllByRole("button").map((button) => button.textContent.trim());
    expect(offered).toEqual([
      "Compare…",
      "Register…",
      "Unregister…",
      "Undo the last change…",
      "Test connection",
    ]);
    expect(screen.getByText("1 host can use OpenSpace. 1 needs a decision from you.")).toBeTruthy();
    expect(screen.getByText("1 known host is not on this machine")).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** A machine without any says so; a core that fails is asked again. */
  it("has words for nothing and for failures", async () => {
    list = [host("kiro", "not_found")];
    const { unmount } = open();
    expect(await screen.findByText("No agent program was found on this machine")).toBeTruthy();
    expect(screen.getByRole("button", { name: /Make its file anyway… KIRO/ })).toBeTruthy();
    expect(await violations()).toEqual([]);
    unmount();
    backend.answers.hosts_list = () => refused("ledger", { file: "/d", message: "m" });
    open();
    expect(await screen.findByText(/The hosts could not be listed/)).toBeTruthy();
    backend.answers.hosts_list = () => ({ hosts: list, others, strangers });
    await press("Try again");
    expect(await screen.findByText("No agent program was found on this machine")).toBeTruthy();
  });

  /** A change in another window and the program that entries start are told at once. */
  it("follows what happens", async () => {
    backend.answers.host_program = ({ renew }) => ({ stale: renew ? "/d/bin" : "/d/bin" });
    open();
    await screen.findByText("/d/bin");
    await press("Copy it anew");
    expect(backend.requests("host_program").at(-1)).toEqual({ renew: true });
    await waitFor(() => expect(screen.queryByText("/d/bin")).toBeNull());
  });
});

describe("a change", () => {
  /** What is shown is what is asked to be made, by its fingerprint. */
  it("is shown, then made", async () => {
    open();
    await press("Register… CODEX");
    const shown = await dialog();
    const line = await shown.findByRole("row", { name: /added/ });
    expect(line.textContent).toContain("[mcp_servers.openspace]");
    expect(shown.getByText(/3 other servers stay as they are/)).toBeTruthy();
    expect(shown.getByText("/home/ana/.codex/config.openspace-1.bak")).toBeTruthy();
    expect(backend.requests("host_change")).toEqual([]);
    expect(await violations()).toEqual([]);
    await press("Write change");
    expect(await shown.findByText("CODEX is registered.")).toBeTruthy();
    expect(backend.requests("host_change")).toEqual([
      {
        request: {
          place: { host: "codex" },
          change: "register",
          force: false,
          trust: false,
          create: false,
          skills: false,
        },
        fingerprint: "first",
      },
    ]);
    expect(await violations()).toEqual([]);
  });

  /** Another one than was shown is never made: the new one is shown, and made only when asked. */
  it("that became another one is shown again", async () => {
    const later = preview({ fingerprint: "second", otherServers: 1 });
    backend.answers.host_change = ({ fingerprint }) => ({
      made: fingerprint === "second",
      preview: later,
    });
    open();
    await press("Register… CODEX");
    await press("Write change");
    const shown = await dialog();
    expect((await shown.findByRole("alert")).textContent).toContain("nothing was written");
    expect(shown.getByText(/1 other server stays as it is/)).toBeTruthy();
    expect(shown.queryByText("CODEX is registered.")).toBeNull();
    await press("Write change");
    expect(await shown.findByText("CODEX is registered.")).toBeTruthy();
    const given = backend.requests("host_change").map(({ fingerprint }) => fingerprint);
    expect(given).toEqual(["first", "second"]);
  });

  /** Another entry of our name: both are shown, nothing is chosen beforehand, nothing is forced. */
  it("of another entry is a choice", async () => {
    backend.answers.host_preview = ({ force, change }) => {
      if (!force) refused("different", { entry: '{"command":"npx"}', file: "/f" });
      return preview({ effect: change === "register" ? "replace" : "remove" });
    };
    open();
    await press("Compare… GEMINI");
    const shown = await dialog();
    const theirs = await shown.findByRole("region", { name: "The entry in the file" });
    expect(theirs.textContent).toBe('{\n  "command": "npx"\n}');
    const go = () => shown.getByRole<HTMLButtonElement>("button", { name: "Go on" });
    expect(go().disabled).toBe(true);
    expect(shown.getAllByRole<HTMLInputElement>("radio").some(({ checked }) => checked)).toBe(
      false,
    );
    expect(await violations()).toEqual([]);
    await user.click(shown.getByRole("radio", { name: /^Put ours in its place/ }));
    expect(backend.requests("host_preview").every(({ force }) => !force)).toBe(true);
    await press("Show the change");
    expect(await shown.findByText(/replaced as a whole/)).toBeTruthy();
    expect(backend.requests("host_change")).toEqual([]);
    await press("Cancel");
    await press("Compare… GEMINI");
    await user.click(await screen.findByRole("radio", { name: /^Keep it/ }));
    await press("Go on");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(backend.requests("host_change")).toEqual([]);
  });

  /** A file that cannot be used gives the entry to be pasted, in the language of the window. */
  it("that is not possible is left to the person", async () => {
    backend.answers.host_preview = () =>
      refused("read_only", { file: "/f", snippet: "[mcp_servers.openspace]" });
    open();
    await press("Register… CODEX");
    expect((await screen.findByRole("alert")).textContent).toContain("/f is write-protected");
    expect(
      screen.getByRole("region", { name: "The entry, to paste by hand" }).textContent,
    ).toContain("[mcp_servers.openspace]");
    expect(screen.queryByRole("button", { name: "Write change" })).toBeNull();
    expect(await violations()).toEqual([]);
    await speaker.speak("zh-Hans");
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("/f 有写保护"));
    await speaker.speak("en");
  });

  /** While the project is not named there is nothing that could be written by mistake. */
  it("for a project waits for its folder", async () => {
    backend.answers.host_detail = () =>
      detail({ projectFile: ".codex/config.toml", canTrust: true });
    open();
    await press("Register… CODEX");
    await screen.findByRole("button", { name: "Write change" });
    await user.click(await screen.findByRole("radio", { name: "For one project" }));
    expect(screen.queryByRole("button", { name: "Write change" })).toBeNull();
    await user.type(screen.getByLabelText("Folder of the project"), "/p");
    await press("Show the change");
    await screen.findByRole("button", { name: "Write change" });
    await user.click(screen.getByRole("switch", { name: /does not ask/ }));
    await waitFor(() =>
      expect(backend.requests("host_preview").at(-1)).toMatchObject({
        place: { host: "codex", project: "/p" },
        trust: true,
      }),
    );
    await user.type(screen.getByLabelText("Folder of the project"), "q");
    expect(screen.queryByRole("button", { name: "Write change" })).toBeNull();
    expect(await violations()).toEqual([]);
  });
});

describe("the details", () => {
  /** They tell what was seen when the entry was tried, and why it does not work. */
  it("tell what came of a test", async () => {
    backend.answers.host_verify = () => ({
      started: { command: "/usr/bin/openspace", args: ["mcp"], variables: [] },
      variables: ["HOME"],
      server: "openspace 0.1.0",
      protocol: "2025-11-25",
      tools: ["execute_task", "task_status"],
      called: "task_status",
      callFailed: true,
      answer: "no such task",
      noise: ["hello"],
      firstAnswerMs: 31,
      ended: false,
    });
    open({ name: "hosts", id: "cursor" });
    const panel = within(await screen.findByRole("complementary", { name: "Details: CURSOR" }));
    await user.click(await panel.findByRole("button", { name: "Test connection" }));
    expect(await panel.findByText(/CURSOR can use OpenSpace/)).toBeTruthy();
    expect(panel.getByText("execute_task, task_status")).toBeTruthy();
    expect(panel.getByText("hello")).toBeTruthy();
    expect(panel.getByText("It did not end when its input did.")).toBeTruthy();
    expect(await violations()).toEqual([]);
    backend.answers.host_verify = () =>
      refused("silent", { step: "initialize", seconds: "15", message: "" });
    await user.click(panel.getByRole("button", { name: "Test connection" }));
    expect(await panel.findByText("CURSOR cannot use OpenSpace as it is.")).toBeTruthy();
    expect(panel.getByText(/did not answer initialize within 15 s/)).toBeTruthy();
  });

  /** An entry that is there already can be told not to be asked about, or to start this copy. */
  it("offer what else the entry can say", async () => {
    list = [host("codex", "registered", { startsAnother: true })];
    backend.answers.host_detail = () => detail({ canTrust: true });
    backend.answers.host_preview = ({ trust, force }) =>
      preview({ effect: trust || force ? "adjust" : "nothing", diff: [] });
    open({ name: "hosts", id: "codex" });
    await press("Change the entry…");
    const shown = await dialog();
    expect(await shown.findByText(/registered already/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Write change" })).toBeNull();
    await user.click(await shown.findByRole("switch", { name: /does not ask/ }));
    expect(await screen.findByRole("button", { name: "Write change" })).toBeTruthy();
    await user.click(shown.getByRole("switch", { name: /does not ask/ }));
    await press("Start this copy instead");
    await press("Write change");
    expect(backend.requests("host_change").map(({ request }) => request)).toMatchObject([
      { change: "register", force: true, trust: false },
    ]);
    expect(await violations()).toEqual([]);
  });

  /** Keys act on the host whose details are open, and only where they make sense. */
  it("are reached and left with keys", async () => {
    open({ name: "hosts", id: "cursor" });
    await screen.findByRole("complementary", { name: "Details: CURSOR" });
    commands.run("hostRegister");
    expect(screen.queryByRole("dialog")).toBeNull();
    backend.answers.host_preview = () => preview({ effect: "remove" });
    commands.run("hostUnregister");
    expect(await screen.findByRole("button", { name: "Remove entry" })).toBeTruthy();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(screen.getByRole("complementary", { name: "Details: CURSOR" })).toBeTruthy();
    location.hash = "#/hosts/cursor";
    await user.keyboard("{Escape}");
    await waitFor(() => expect(location.hash).toBe("#/hosts"));
    router.read();
  });
});
