import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import english from "../../messages/en.json";
import { violations } from "../../tests/axe";
import { failure, FakeBackend } from "../../tests/fake-backend";
import { appState } from "../../tests/samples";
import { useBackend, type Response } from "../lib/api";
import { CallFailed } from "../lib/backend/backend";
import { hotkeyOf } from "../lib/hotkey";
import { speaker } from "../lib/i18n.svelte";
import { program } from "../lib/state/program.svelte";
import { settings } from "../lib/state/settings.svelte";
import { read, writeList } from "../lib/toml";
import DiagnosticsView from "./diagnostics/DiagnosticsView.svelte";
import InsightsView from "./insights/InsightsView.svelte";
import { rate } from "./insights/few";
import SettingsView from "./settings/SettingsView.svelte";
import { ROWS, idOf } from "./settings/rows";

const user = userEvent.setup();
let backend: FakeBackend;

type Setting = Response<"settings_list">["settings"][number];

function setting(key: string, value: string | null, over: Partial<Setting> = {}): Setting {
  return { key, value, default: value, origin: "default", originName: null, about: key, ...over };
}

const SETTINGS: Setting[] = [
  setting("language", null),
  setting("log.level", '"warn"'),
  setting("model.name", '"openai/x"', {
    default: null,
    origin: "variable",
    originName: "OPENSPACE_MODEL",
  }),
  setting("policy.preset", '"ask-risky"'),
  setting("policy.folders", '["/a, b"]', { default: "[]", origin: "file" }),
  setting("run.max_steps", "50"),
];

function sentence(key: string, params: Record<string, string> = {}) {
  return { key, params };
}

function numbers(runs: number): Response<"insights_get"> {
  const group = { name: "openai/x", runs, done: runs, tokens: 1_200 * runs, dollars: 0.5 };
  return {
    runs,
    done: runs,
    medianMs: 61_000,
    tokens: 1_200 * runs,
    dollars: 0.5,
    unpricedRuns: 0,
    byDay: [{ day: "2026-11-30", ...group }],
    byModel: [group],
    byBackend: [{ ...group, name: "shell" }],
    byStatus: [{ status: "done", runs }],
  };
}

beforeEach(async () => {
  backend = new FakeBackend({
    app_state: () => appState(),
    settings_list: () => ({ settings: SETTINGS, wrong: null }),
    setting_set: ({ key, value }) => setting(key, value, { origin: "file", default: "x" }),
    rules_list: () => ({ rules: [] }),
    models_list: () => ({ providers: [], models: [] }),
    keys_list: () => ({
      keys: [
        {
          provider: "anthropic",
          needsKey: true,
          variable: null,
          kept: "keychain",
          ending: "••••4f2a",
        },
      ],
      protection: "keychain",
      file: "/k",
      needsPassphrase: false,
      problem: null,
      sessionPossible: false,
    }),
    checks_list: () => ({ checks: ["settings", "model"] }),
    check_run: ({ check }) => ({
      findings: [
        check === "model"
          ? {
              id: "model",
              health: "problem",
              found: [
                sentence("check.model.failed", { model: "openai/x" }),
                sentence("key.from.none"),
              ],
              fix: sentence("check.fix.connection"),
              host: null,
              detail: "connection refused",
              needsRestart: false,
            }
          : {
              id: "settings",
              health: "ok",
              found: [sentence("check.settings.file", { path: "/s" })],
              fix: null,
              host: null,
              detail: null,
              needsRestart: false,
            },
      ],
      milliseconds: 12,
    }),
  });
  useBackend(backend);
  await program.load();
});

describe("the settings", () => {
  /** Every row has its words in the catalogue. */
  it("have words for every row", () => {
    for (const row of ROWS) {
      expect(english, idOf(row)).toHaveProperty([row.label]);
      expect(english, idOf(row)).toHaveProperty([row.help]);
    }
  });

  /** A number goes to the core as it is; what is no number does not. */
  it("are written when they make sense", async () => {
    render(SettingsView, { props: { route: { name: "settings", section: "safety" } } });
    const field = await screen.findByRole("textbox", { name: "Most steps" });
    await user.clear(field);
    await user.type(field, "many{Enter}");
    expect(await screen.findByText(/Write a number/)).toBeTruthy();
    expect(backend.requests("setting_set")).toEqual([]);
    await user.clear(field);
    await user.type(field, "20{Enter}");
    expect(backend.requests("setting_set")).toEqual([{ key: "run.max_steps", value: "20" }]);
    expect(await violations()).toEqual([]);
  });

  /** The Enter that chooses a Chinese word writes nothing yet, in WebKit too. */
  it("leave keys to the input method", async () => {
    render(SettingsView, { props: { route: { name: "settings", section: "safety" } } });
    const field = await screen.findByRole("textbox", { name: "Most steps" });
    // Who writes in it has the focus; what comes from elsewhere meanwhile changes nothing.
    field.focus();
    await fireEvent.input(field, { target: { value: "20" } });
    await fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    expect(backend.requests("setting_set")).toEqual([]);
    await fireEvent.keyDown(field, { key: "Enter", keyCode: 13 });
    await waitFor(() => expect(backend.requests("setting_set")).toHaveLength(1));
  });

  /** A list keeps commas inside its items; a refused change says why. */
  it("keep lists whole and tell what is refused", async () => {
    backend.answers.setting_set = () => {
      throw new CallFailed(failure("not there", "configuration"));
    };
    render(SettingsView, { props: { route: { name: "settings", section: "safety" } } });
    await user.type(await screen.findByLabelText("Add to: Allowed folders"), "/c{Enter}");
    expect(backend.requests("setting_set")).toEqual([
      { key: "policy.folders", value: '["/a, b", "/c"]' },
    ]);
    const [alert] = await screen.findAllByRole("alert");
    expect(alert?.textContent).toMatch(/^Not changed: this value cannot be used\./);
    expect(screen.getByText("not there").lang).toBe("en");
  });

  /** What a variable decides is locked and says so; a key shows its end and where it is kept. */
  it("lock what a variable decides", async () => {
    render(SettingsView, { props: { route: { name: "settings", section: "models" } } });
    expect(await screen.findByText(/Set by the variable OPENSPACE_MODEL/)).toBeTruthy();
    expect(await screen.findByText("••••4f2a · in the keychain of the system")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Replace the key of anthropic" }));
    expect(screen.getByLabelText("Key of anthropic").getAttribute("type")).toBe("password");
    expect(await violations()).toEqual([]);
  });

  /** Each section has names for all of its controls. */
  it.each(["general", "safety", "appearance", "privacy", "about"])(
    "are accessible: %s",
    async (section) => {
      render(SettingsView, { props: { route: { name: "settings", section } } });
      await waitFor(() => expect(settings.loading).toBe(false));
      expect(await violations()).toEqual([]);
    },
  );
});

describe("values of settings", () => {
  /** Read as they were meant, with commas, quotes and escapes in texts. */
  it("are read and written", () => {
    expect(read('["a, b", "c\\"d"]')).toEqual(["a, b", 'c"d']);
    expect([read("true"), read("1_500"), read("0.5"), read(null)]).toEqual([
      true,
      1_500,
      0.5,
      null,
    ]);
    expect(read(writeList(["/home/ä b", "c,d"]))).toEqual(["/home/ä b", "c,d"]);
  });

  /** Keys make a hotkey only with a modifier that is not text. */
  it("name hotkeys", () => {
    const none = { ctrlKey: false, altKey: false, shiftKey: false, metaKey: false };
    expect(hotkeyOf({ ...none, ctrlKey: true, altKey: true, code: "Period" })).toBe(
      "ctrl+alt+period",
    );
    expect(hotkeyOf({ ...none, shiftKey: true, code: "KeyA" })).toBeNull();
    expect(hotkeyOf({ ...none, ctrlKey: true, code: "ControlLeft" })).toBeNull();
  });
});

describe("diagnostics", () => {
  /** One call per check; each shows its word, what to do, and a sum above all. */
  it("show each check", async () => {
    render(DiagnosticsView, { props: { route: { name: "diagnostics" } } });
    expect(await screen.findByText("openai/x cannot be used at the moment · no key")).toBeTruthy();
    expect(screen.getByText("connection refused").getAttribute("lang")).toBe("en");
    expect(screen.getByText(/check the connection/)).toBeTruthy();
    expect(screen.getByText("1 problem.")).toBeTruthy();
    expect(backend.requests("check_run").map(({ check }) => check)).toEqual(["settings", "model"]);
    expect(await violations()).toEqual([]);
    await speaker.speak("zh-Hans");
    expect(await screen.findByText("目前无法使用 openai/x · 没有密钥")).toBeTruthy();
    expect(screen.getByText(/检查网络连接/)).toBeTruthy();
    expect(screen.getByText("读取自 /s")).toBeTruthy();
    await speaker.speak("en");
  });
});

describe("diagnostics of hosts", () => {
  /** A finding leads to where it is mended: the change is shown there at once. */
  it("lead to what mends them", async () => {
    backend.answers.checks_list = () => ({ checks: ["hosts"] });
    const warned = (key: string, over: object) => ({
      id: "hosts",
      health: "warning" as const,
      found: [sentence(key, { host: "Codex", file: "/bin" })],
      fix: sentence(`${key}.fix`, { id: "codex", file: "/bin" }),
      detail: null,
      host: null,
      needsRestart: false,
      ...over,
    });
    backend.answers.check_run = () => ({
      findings: [
        warned("check.hosts.moved", { host: { host: "codex", file: null } }),
        warned("check.hosts.removed", { host: { host: "codex", file: "/p/.codex/config.toml" } }),
        warned("check.hosts.stale", {}),
      ],
      milliseconds: 3,
    });
    render(DiagnosticsView, { props: { route: { name: "diagnostics" } } });
    const fixes = await screen.findAllByRole("link", { name: "Put it right…" });
    expect(fixes.map((link) => link.getAttribute("href"))).toEqual([
      "#/hosts/codex?act=register",
      "#/hosts/codex?file=%2Fp%2F.codex%2Fconfig.toml&act=register",
    ]);
    expect(screen.getByRole("link", { name: "Open Hosts" }).getAttribute("href")).toBe("#/hosts");
    expect(await violations()).toEqual([]);
  });
});

describe("insights", () => {
  /** Nothing below three runs, "early" below five, a table with the same numbers. */
  it("are honest about few runs", async () => {
    backend.answers.insights_get = () => numbers(2);
    const few = render(InsightsView, { props: { route: { name: "insights" } } });
    expect(await screen.findByText("Insights appear after three finished tasks")).toBeTruthy();
    few.unmount();
    backend.answers.insights_get = () => numbers(4);
    const early = render(InsightsView, { props: { route: { name: "insights" } } });
    expect((await screen.findAllByText("early")).length).toBeGreaterThan(2);
    await user.click(screen.getByRole("button", { name: "By model: Show as table" }));
    expect(screen.getByRole("cell", { name: "4,800" })).toBeTruthy();
    expect(await violations()).toEqual([]);
    early.unmount();
    backend.answers.insights_get = () => numbers(9);
    render(InsightsView, { props: { route: { name: "insights" } } });
    await screen.findByText("9 of 9 runs");
    expect(screen.queryByText("early")).toBeNull();
    expect(rate(0, 0)).toBe("–");
  });
});
