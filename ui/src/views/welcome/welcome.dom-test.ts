import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend, type Response } from "../../lib/api";
import { readable } from "../../lib/hotkey";
import { events } from "../../lib/state/events.svelte";
import { hotkeys, type Hotkey } from "../../lib/state/hotkeys.svelte";
import { program } from "../../lib/state/program.svelte";
import { welcome } from "../../lib/state/welcome.svelte";
import HotkeyField from "../settings/HotkeyField.svelte";
import WelcomeView from "./WelcomeView.svelte";

const user = userEvent.setup();
let backend: FakeBackend;
let stop: () => void;
let key: Hotkey;

const HEARD = {
  id: 1,
  topic: "hotkeys",
  key: "stop",
  seq: 1,
  at: 1,
  kind: "hotkeys.heard",
  v: 1,
  payload: {},
};

async function show() {
  backend = new FakeBackend({
    app_state: () => appState(),
    hotkeys_list: () => ({ hotkeys: [key] }),
    settings_list: () => ({
      settings: [
        {
          key: "policy.preset",
          value: '"ask-risky"',
          default: '"ask-risky"',
          origin: "default",
          originName: null,
          about: "",
        },
      ] as Response<"settings_list">["settings"],
      wrong: null,
    }),
    ui_state_get: () => ({ value: null }),
    ui_state_set: () => ({}),
  });
  useBackend(backend);
  await program.load();
  stop = events.start(0);
  render(WelcomeView, { props: { route: { name: "welcome", step: "safety" } } });
  await waitFor(() => expect(hotkeys.loading).toBe(false));
}

/** Steps that count as gone through, as the core was told last. */
const done = () => (backend.requests("ui_state_set").at(-1)?.value as { done: string[] }).done;

beforeEach(() => {
  key = { name: "stop", keys: "ctrl+alt+period", state: "active", reason: null, heardAt: null };
  hotkeys.list = [];
  hotkeys.loading = true;
  welcome.kept = { step: "safety", done: [], over: false, demo: null };
});
afterEach(() => stop());

describe("the proof of the stop key", () => {
  /** Only the press itself proves it: until it was heard, the step is skipped, not done. */
  it("is a press that was heard", async () => {
    await show();
    expect(await screen.findByText("Ctrl+Alt+.")).toBeTruthy();
    expect(screen.getByText("Not heard yet.")).toBeTruthy();
    expect(await violations()).toEqual([]);
    // Pressed in the page alone: no program outside would have heard it.
    await user.keyboard("{Control>}{Alt>}.{/Alt}{/Control}");
    expect(screen.getByText("Not heard yet.")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Start with a task" }));
    expect(done()).not.toContain("safety");
    key = { ...key, heardAt: Date.UTC(2026, 10, 30, 10, 42, 7) };
    backend.tell(HEARD);
    expect(await screen.findByText(/Heard at .*:42:07.*It works\./)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "It does not work here" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Start with a task" }));
    expect(done()).toContain("safety");
  });

  /** Who does not get it to work is shown what does. */
  it("has a way out", async () => {
    await show();
    await user.click(await screen.findByRole("button", { name: "It does not work here" }));
    expect(screen.getByText("These work instead:")).toBeTruthy();
    expect(screen.getAllByText("openspace stop --all").length).toBeGreaterThan(0);
    expect(screen.getByText(/Stop everything” in the menu of the icon/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Choose other keys" }).getAttribute("href")).toBe(
      "#/settings/hotkeys",
    );
    expect(screen.getByText("Not heard yet.")).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** Where there can be no such key, the ways that work are there at once, and nothing is to be proved. */
  it.each([
    ["unsupported", "programs can have no keys"],
    ["app_closed", "which does not run"],
    ["refused", "The system refused the key"],
    ["off", "No key is set"],
  ] as const)("is not asked for where it cannot be: %s", async (state, told) => {
    key = { ...key, state, heardAt: Date.now() };
    await show();
    expect(await screen.findByText(new RegExp(told))).toBeTruthy();
    expect(screen.queryByText(/It works\./)).toBeNull();
    expect(screen.getByText("These work instead:")).toBeTruthy();
    expect(screen.queryByRole("link", { name: "Choose other keys" }) === null).toBe(
      state === "unsupported",
    );
    await user.click(screen.getByRole("button", { name: "Start with a task" }));
    expect(done()).toContain("safety");
  });

  /** The settings say whether a key was ever heard. */
  it("is told in the settings", async () => {
    await show();
    const props = { label: "Stop", name: "stop", value: key.keys, onchange: () => undefined };
    render(HotkeyField, { props });
    expect(await screen.findByText(/not proven/)).toBeTruthy();
    key = { ...key, heardAt: Date.UTC(2026, 10, 30, 10, 42) };
    backend.tell(HEARD);
    expect(await screen.findByText(/last heard .*2026/)).toBeTruthy();
    expect(screen.queryByText(/not proven/)).toBeNull();
  });
});

/** Keys are named as they are written on keyboards. */
it("names keys", () => {
  expect(["ctrl+alt+period", "super+f5", "ctrl+shift+arrowup", ""].map(readable)).toEqual([
    "Ctrl+Alt+.",
    "Super+F5",
    "Ctrl+Shift+↑",
    "",
  ]);
});
