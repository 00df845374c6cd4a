import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend, type Response } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import { speaker } from "../../lib/i18n.svelte";
import { agents } from "../../lib/state/agents.svelte";
import { events } from "../../lib/state/events.svelte";
import { program } from "../../lib/state/program.svelte";
import { settings } from "../../lib/state/settings.svelte";
import AgentServer from "./AgentServer.svelte";
import CoreSetting from "./CoreSetting.svelte";
import { ROWS } from "./rows";

type Server = Response<"mcp_server">;

const OFF: Server = {
  state: "off",
  port: 8080,
  url: null,
  freePort: null,
  reason: null,
  tokenFile: "/home/ana/.local/share/openspace/mcp-token",
  canCopy: true,
};
const LISTENING: Server = { ...OFF, state: "listening", url: "http://127.0.0.1:8080/mcp" };

let backend: FakeBackend;
let server: Server;
let place: "window" | "page";
let stop: () => void;

async function show() {
  await program.load();
  await agents.load();
  render(AgentServer);
  await screen.findAllByRole("status");
}

beforeEach(() => {
  server = OFF;
  place = "window";
  backend = new FakeBackend({
    app_state: () => appState({ place }),
    mcp_server: () => server,
    mcp_copy: () => ({}),
    setting_set: ({ key, value }) => ({
      key,
      value,
      default: "8080",
      origin: "file",
      originName: null,
      about: "",
    }),
  });
  useBackend(backend);
  stop = events.start(0);
});
afterEach(() => stop());

describe("the server for other agents", () => {
  /** It tells how it stands, and what changes shows by itself. */
  it("follows what is told", async () => {
    await show();
    expect(screen.getByText("Off: nothing listens")).toBeTruthy();
    server = LISTENING;
    backend.tell({
      id: 1,
      topic: "mcp",
      key: "server",
      seq: 1,
      at: 0,
      kind: "mcp.changed",
      v: 1,
      payload: {},
    });
    expect(await screen.findByText("http://127.0.0.1:8080/mcp")).toBeTruthy();
    expect(screen.getByText(OFF.tokenFile)).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** A port of another program is told with what to do, and the free one is taken by a press. */
  it("offers a port that is free", async () => {
    server = { ...OFF, state: "port_taken", freePort: 8083 };
    await show();
    expect(screen.getByText("Another program has port 8080")).toBeTruthy();
    expect(screen.getByText(/End that program, or choose another port/)).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: "Use port 8083" }));
    await waitFor(() =>
      expect(backend.requests("setting_set")).toEqual([{ key: "mcp.port", value: "8083" }]),
    );
    expect(await violations()).toEqual([]);
  });

  /** Copying is the program's: the page asks for it and is told nothing. */
  it("copies without seeing the token", async () => {
    server = LISTENING;
    await show();
    await fireEvent.click(screen.getByRole("button", { name: "Copy configuration" }));
    await waitFor(() => expect(backend.requests("mcp_copy")).toEqual([{}]));
    backend.answers.mcp_copy = () => {
      throw new CallFailed({ ...failure("run 7 has the screen", "forbidden"), hint: "stop it" });
    };
    await fireEvent.click(screen.getByRole("button", { name: "Copy configuration" }));
    expect(await screen.findByText(/It was not copied\./)).toBeTruthy();
  });

  /** A page in a browser gets the address and the place of the token, and cannot copy. */
  it("copies nothing from a browser", async () => {
    server = LISTENING;
    place = "page";
    await show();
    expect(await screen.findByText(OFF.tokenFile)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Copy configuration" })).toBeNull();
  });

  /** Where the system has no clipboard for it, nothing is offered that would fail. */
  it("offers no copy where there is no clipboard", async () => {
    server = { ...LISTENING, canCopy: false };
    await show();
    expect(await screen.findByText(OFF.tokenFile)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Copy configuration" })).toBeNull();
  });

  it("speaks the language of the window", async () => {
    server = { ...OFF, state: "port_taken", freePort: 8083 };
    await speaker.speak("zh-Hans");
    render(AgentServer);
    expect(await screen.findByText("端口 8080 已被其他程序占用")).toBeTruthy();
    await speaker.speak("en");
  });
});

describe("a setting that needs a restart", () => {
  /** It says so and offers the restart, as long as the program waits for one. */
  it("offers it", async () => {
    const row = ROWS.find((row) => "setting" in row && row.setting === "desktop.safe_graphics");
    if (!row || !("setting" in row)) throw new Error("no such row");
    let restarted = 0;
    backend.native = { restart: () => Promise.resolve(void restarted++) };
    let needsRestart: string[] = [];
    backend.answers.app_state = () => appState({ place, needsRestart });
    backend.answers.settings_list = () => ({
      settings: [
        {
          key: "desktop.safe_graphics",
          value: "true",
          default: "false",
          origin: "file",
          originName: null,
          about: "",
        },
      ],
      wrong: null,
    });
    await settings.load();
    await program.load();
    render(CoreSetting, { props: { row } });
    const group = within(await screen.findByRole("group", { name: "Safe graphics" }));
    expect(group.queryByRole("button", { name: "Restart now" })).toBeNull();
    needsRestart = ["desktop.safe_graphics"];
    await program.load();
    await fireEvent.click(await group.findByRole("button", { name: "Restart now" }));
    expect(restarted).toBe(1);
    expect(await violations()).toEqual([]);
  });
});
