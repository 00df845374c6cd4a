import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend, type Response } from "../../lib/api";
import { speaker } from "../../lib/i18n.svelte";
import { program } from "../../lib/state/program.svelte";
import PermissionCards from "./PermissionCards.svelte";

type Finding = Response<"check_run">["findings"][number];

let backend: FakeBackend;
let granted: boolean | "after a restart";

function screenFindings(): Finding[] {
  const say = (key: string, params: Record<string, string> = {}) => ({ key, params });
  if (granted === "after a restart") {
    return [
      {
        id: "screen",
        health: "warning",
        found: [say("check.screen.restart")],
        fix: say("check.screen.restart.fix"),
        detail: null,
        host: null,
        needsRestart: true,
      },
    ];
  }
  return granted
    ? [
        {
          id: "screen",
          health: "ok",
          found: [say("check.screen.monitors", { display: ":0", monitors: "eDP-1 1920x1080" })],
          fix: null,
          detail: null,
          host: null,
          needsRestart: false,
        },
        {
          id: "capture",
          health: "ok",
          found: [say("check.capture.ok", { size: "1920x1080" })],
          fix: null,
          detail: null,
          host: null,
          needsRestart: false,
        },
      ]
    : [
        {
          id: "screen",
          health: "warning",
          found: [say("check.screen.none")],
          fix: say("check.screen.none.fix"),
          detail: "denied",
          host: null,
          needsRestart: false,
        },
      ];
}

beforeEach(async () => {
  granted = false;
  backend = new FakeBackend({
    app_state: () => appState(),
    check_run: ({ check }) => ({
      findings: check === "screen" ? screenFindings() : [],
      milliseconds: 1,
    }),
  });
  useBackend(backend);
  await program.load();
});
afterEach(() => vi.restoreAllMocks());

const card = () => within(screen.getByRole("group", { name: "See and use the screen" }));

describe("the cards of what it may do", () => {
  /** What is granted outside shows within two seconds, without a reload. */
  it("follow what is granted", async () => {
    render(PermissionCards);
    await waitFor(() => expect(card().getByText("there is no screen to use", { exact: false })));
    expect(await violations()).toEqual([]);
    granted = true;
    await waitFor(() => expect(card().getByText(":0: eDP-1 1920x1080")).toBeTruthy(), {
      timeout: 2_000,
    });
    expect(card().queryByText(/no screen to use/)).toBeNull();
  });

  /** What counts only for a newly started app offers the restart, and the restart is asked for. */
  it("offer a restart where one is needed", async () => {
    const restart = vi.fn(() => Promise.resolve());
    backend.native = { restart };
    render(PermissionCards);
    await waitFor(() => expect(card().getByText("there is no screen to use", { exact: false })));
    expect(card().queryByRole("button")).toBeNull();
    granted = "after a restart";
    const button = await waitFor(() => card().getByRole("button", { name: "Restart now" }), {
      timeout: 2_000,
    });
    expect(card().getByText("Needs a restart")).toBeTruthy();
    expect(await violations()).toEqual([]);
    expect(restart).not.toHaveBeenCalled();
    await fireEvent.click(button);
    expect(restart).toHaveBeenCalledOnce();
  });

  /** A page in a browser cannot restart the app, and offers nothing. */
  it("offer no restart in a browser", async () => {
    granted = "after a restart";
    render(PermissionCards);
    await waitFor(() => expect(card().getByText("Needs a restart")).toBeTruthy());
    expect(card().queryByRole("button")).toBeNull();
  });

  /** Looking asks for nothing but the checks, which ask the system for no permission. */
  it("ask for nothing by themselves", async () => {
    render(PermissionCards);
    await waitFor(() => expect(backend.requests("check_run").length).toBeGreaterThan(3));
    const asked = new Set(backend.asked.map(({ name }) => name));
    expect([...asked].sort()).toEqual(["app_state", "check_run"]);
    expect(backend.requests("check_run").every(({ askModel }) => !askModel)).toBe(true);
  });

  /** They speak the language of the window. */
  it("are translated", async () => {
    await speaker.speak("zh-Hans");
    render(PermissionCards);
    expect(await screen.findByText(/没有可用的屏幕/)).toBeTruthy();
    await speaker.speak("en");
  });
});
