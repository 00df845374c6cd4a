import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import english from "../../../messages/en.json";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend, type Response } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import { speaker } from "../../lib/i18n.svelte";
import { program } from "../../lib/state/program.svelte";
import KeyRow from "./KeyRow.svelte";
import SettingsView from "./SettingsView.svelte";
import Unlock from "./Unlock.svelte";
import { ROWS } from "./rows";

type Setting = Response<"settings_list">["settings"][number];

const user = userEvent.setup();
let backend: FakeBackend;

function setting(key: string, value: string): Setting {
  return { key, value, default: value, origin: "default", originName: null, about: "" };
}

beforeEach(async () => {
  backend = new FakeBackend({
    app_state: () => appState(),
    settings_list: () => ({
      settings: [setting("policy.preset", '"ask-risky"'), setting("screen.human_input", '"pause"')],
      wrong: null,
    }),
    setting_set: ({ key, value }) => setting(key, `"${value ?? ""}"`),
    rules_list: () => ({ rules: [] }),
    hotkeys_list: () => ({ hotkeys: [] }),
  });
  useBackend(backend);
  await program.load();
});

describe("what lowers a protection", () => {
  /** Each says what it means before it is done, and can be left alone. */
  it("asks once more", async () => {
    render(SettingsView, { props: { route: { name: "settings", section: "safety" } } });
    const hands = await screen.findByRole<HTMLInputElement>("radio", { name: /^Hands-off/ });
    await user.click(hands);
    const sure = await screen.findByRole("dialog", { name: "Let tasks run hands-off?" });
    expect(sure.textContent).toMatch(/files change without a question/);
    expect(document.activeElement?.textContent).not.toBe("Run hands-off");
    expect(await violations()).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(backend.requests("setting_set")).toEqual([]);
    const risky = screen.getByRole<HTMLInputElement>("radio", { name: /^Ask for risky steps/ });
    expect(risky.checked).toBe(true);

    await user.click(screen.getByRole("radio", { name: /^Hands-off/ }));
    await user.click(await screen.findByRole("button", { name: "Run hands-off" }));
    const asked = { key: "policy.preset", value: "hands-off" };
    await waitFor(() => expect(backend.requests("setting_set")).toEqual([asked]));
  });

  /** So does letting runs go on while somebody moves the mouse; what protects more asks nothing. */
  it("is told apart from what protects", async () => {
    render(SettingsView, { props: { route: { name: "settings", section: "safety" } } });
    const label = english["ui.set.screen.human_input"];
    const choose = async (name: string) =>
      user.selectOptions(await screen.findByRole("combobox", { name: label }), name);
    await choose("The run stops");
    const stops = { key: "screen.human_input", value: "stop" };
    await waitFor(() => expect(backend.requests("setting_set")).toEqual([stops]));
    await choose("Nothing happens");
    await screen.findByRole("dialog", { name: "Let runs go on while you use the mouse?" });
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(backend.requests("setting_set")).toEqual([stops]);
    expect(screen.getByRole<HTMLSelectElement>("combobox", { name: label }).value).toBe("stop");
    await choose("Nothing happens");
    await user.click(await screen.findByRole("button", { name: "Let them go on" }));
    await waitFor(() => expect(backend.requests("setting_set")).toHaveLength(2));
  });

  /** Every such value has its sentences. */
  it("has its sentences", () => {
    const keys = ROWS.flatMap((row) =>
      "setting" in row && row.risky ? [`${row.label}.${row.risky}.sure`] : [],
    );
    expect(keys).toHaveLength(2);
    for (const key of keys.flatMap((key) => [key, `${key}.text`, `${key}.do`]))
      expect(english).toHaveProperty([key]);
  });
});

describe("a kept key", () => {
  /** It is named, with its end and its place, before it is removed. */
  it("is removed only after a second look", async () => {
    backend.answers.key_remove = () => ({});
    render(KeyRow, {
      props: {
        key: {
          provider: "anthropic",
          needsKey: true,
          variable: null,
          kept: "keychain",
          ending: "••••4f2a",
        },
        session: false,
        onchanged: () => undefined,
        onrefused: () => undefined,
      },
    });
    const remove = screen.getByRole("button", { name: "Remove the key of anthropic" });
    await user.click(remove);
    const sure = await screen.findByRole("dialog", { name: "Remove the key of anthropic?" });
    expect(sure.textContent).toMatch(/anthropic.*••••4f2a, in the keychain of the system/);
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(backend.requests("key_remove")).toEqual([]);
    await user.click(remove);
    const again = within(await screen.findByRole("dialog"));
    await user.click(again.getByRole("button", { name: "Remove the key of anthropic" }));
    await waitFor(() =>
      expect(backend.requests("key_remove")).toEqual([{ provider: "anthropic" }]),
    );
  });

  /** Why it stays closed is told in the language of the window. */
  it("stays closed with a reason", async () => {
    backend.answers.keys_unlock = () => {
      throw new CallFailed({
        ...failure("the passphrase does not open `/k`", "credentials"),
        params: { reason: "passphrase_wrong" },
      });
    };
    await speaker.speak("zh-Hans");
    render(Unlock, { props: { onopened: () => undefined } });
    await user.type(screen.getByLabelText("口令"), "wrong{Enter}");
    expect(await screen.findByText("未能打开。 口令不正确。")).toBeTruthy();
    await speaker.speak("en");
  });
});
