import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { detail, host, preview } from "../../../tests/host-samples";
import { appState } from "../../../tests/samples";
import { useBackend } from "../../lib/api";
import { hostNames } from "../../lib/state/host-names.svelte";
import { program } from "../../lib/state/program.svelte";
import { STEPS, welcome, type Step } from "../../lib/state/welcome.svelte";
import type { Host } from "../hosts/hosts.svelte";
import WelcomeView from "./WelcomeView.svelte";

const user = userEvent.setup();
let backend: FakeBackend;

async function show(step: Step, hosts: Host[]) {
  let written = false;
  backend = new FakeBackend({
    app_state: () => appState(),
    settings_list: () => ({ settings: [], wrong: null }),
    hotkeys_list: () => ({ hotkeys: [] }),
    ui_state_get: () => ({ value: null }),
    ui_state_set: () => ({}),
    check_run: () => ({ findings: [], milliseconds: 1 }),
    host_program: () => ({ stale: null }),
    host_detail: () => detail(),
    host_preview: () => preview(),
    host_change: () => {
      written = true;
      return { made: true, preview: preview() };
    },
    hosts_list: () => ({
      hosts: hosts.map((one) =>
        written && one.host === "codex" ? host("codex", "registered", { name: "Codex" }) : one,
      ),
      others: [],
      strangers: [],
    }),
  });
  useBackend(backend);
  await program.load();
  return render(WelcomeView, { props: { route: { name: "welcome", step } } });
}

const CODEX = host("codex", "not_registered", { name: "Codex" });
const CURSOR = host("cursor", "registered", { name: "Cursor" });
const KIRO = host("kiro", "not_found", { name: "Kiro" });

beforeEach(() => {
  hostNames.list = [];
  hostNames.known = false;
  welcome.kept = { step: "agents", done: [], over: false, demo: null };
});

describe("the step of the agents", () => {
  /** It stands between what it may do and how much it asks. */
  it("has its place", () => {
    expect(STEPS.slice(-3)).toEqual(["permissions", "agents", "safety"]);
  });

  /** Each that is here has a line; none is chosen, and nothing is written before its change was shown. */
  it("lists what was found and registers after a look", async () => {
    await show("agents", [CODEX, CURSOR, KIRO]);
    const list = await screen.findByRole("list", { name: "Hosts on this machine" });
    const rows = within(list).getAllByRole("listitem");
    expect(rows.map((row) => row.textContent.replace(/\s+/g, " ").trim())).toEqual([
      expect.stringMatching(/Codex.*found, not registered/),
      expect.stringMatching(/Cursor.*registered/),
    ]);
    expect(within(list).queryAllByRole("checkbox")).toEqual([]);
    expect(await violations()).toEqual([]);
    await user.click(screen.getByRole("button", { name: /Register….*Codex|Codex.*Register/ }));
    const dialog = await screen.findByRole("dialog", { name: /Codex/ });
    await within(dialog).findAllByText("[mcp_servers.openspace]");
    expect(backend.requests("host_change")).toEqual([]);
    await user.click(await within(dialog).findByRole("button", { name: "Write change" }));
    await waitFor(() => expect(backend.requests("host_change")).toHaveLength(1));
    await user.click(await screen.findByRole("button", { name: "Done" }));
    expect(await within(list).findAllByText("registered")).toHaveLength(2);
  });

  /** Without any, going on passes it over in both directions, and the rail still leads there. */
  it.each([
    ["permissions", "Next", "#/welcome/safety"],
    ["safety", "Back", "#/welcome/permissions"],
  ] as const)("is passed over from %s where none is here", async (step, button, address) => {
    await show(step, [KIRO]);
    await user.click(await screen.findByRole("button", { name: button }));
    await waitFor(() => expect(location.hash).toBe(address));
    expect(screen.getByRole("link", { name: /Your agents/ })).toBeTruthy();
  });

  /** Who goes there says so, and it takes one press to go on. */
  it("says when none is here", async () => {
    await show("agents", [KIRO]);
    expect(await screen.findByText("No agent program was found on this machine")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Skip this step" }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/safety"));
  });

  /** With some, it is the next step. */
  it("comes after the permissions", async () => {
    await show("permissions", [CODEX]);
    await user.click(await screen.findByRole("button", { name: "Next" }));
    await waitFor(() => expect(location.hash).toBe("#/welcome/agents"));
  });
});
