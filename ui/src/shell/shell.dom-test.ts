import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../tests/axe";
import { failure, FakeBackend } from "../../tests/fake-backend";
import { host } from "../../tests/host-samples";
import { appState, detail, question, RUN, summary } from "../../tests/samples";
import { useBackend, type RunSummary } from "../lib/api";
import { CallFailed } from "../lib/backend/backend";
import { speaker } from "../lib/i18n.svelte";
import { events } from "../lib/state/events.svelte";
import { program } from "../lib/state/program.svelte";
import { runs } from "../lib/state/runs.svelte";
import { MARKER } from "../lib/title";
import App from "./App.svelte";
import { layers } from "./global.svelte";
// Loaded when they are wanted; here beforehand, so that no test waits for them.
import "../views/settings/SettingsView.svelte";
import "./HelpDialog.svelte";
import "./Palette.svelte";

const user = userEvent.setup();
let backend: FakeBackend;

async function open(list: RunSummary[] = [summary()], more: FakeBackend["answers"] = {}) {
  backend = new FakeBackend({
    app_state: () => appState(),
    runs_list: () => ({ runs: list, cursor: 0 }),
    runs_get: () => ({ runs: list, cursor: 0 }),
    run_detail: () => detail(),
    approvals_list: () => ({ approvals: [] }),
    models_list: () => ({ providers: [], models: [] }),
    ui_state_get: () => ({ value: null }),
    ui_state_set: () => ({}),
    ...more,
  });
  useBackend(backend);
  render(App);
  await waitFor(() => expect(backend.heard).toBe(true));
  await screen.findByText("Connected");
}

beforeEach(() => {
  runs.list = [];
  runs.loading = true;
  program.state = null;
  program.failure = null;
  events.connection = "connecting";
  layers.palette = false;
  layers.help = false;
});

describe("the window", () => {
  /** It has its landmarks, one heading, and nothing that axe finds. */
  it("is accessible", async () => {
    await open();
    for (const role of ["banner", "navigation", "main", "contentinfo"]) {
      expect(screen.getAllByRole(role)).toHaveLength(1);
    }
    expect(screen.getAllByRole("heading", { level: 1 })).toHaveLength(1);
    expect(await violations()).toEqual([]);
  });

  /** Every title carries the mark that keeps runs from clicking our own windows. */
  it("marks its title", async () => {
    await open();
    await waitFor(() => expect(document.title).toBe(`Tasks · ${MARKER}`));
    expect(MARKER).toBe(appState().marker);
    location.hash = `#/runs/${RUN}`;
    await waitFor(() => expect(document.title).toMatch(/^Write a greeting/));
    expect(document.title).toContain(MARKER);
  });

  /** Going to a page puts the focus on its heading. */
  it("moves the focus on navigation", async () => {
    await open();
    location.hash = `#/runs/${RUN}`;
    const heading = await screen.findByRole("heading", { level: 1, name: /Write a greeting/ });
    await waitFor(() => expect(document.activeElement).toBe(heading));
  });

  /** So it does where the page is loaded first, unless the person went elsewhere meanwhile. */
  it("moves the focus when the page has come", async () => {
    await open();
    location.hash = "#/insights";
    const heading = await screen.findByRole("heading", { level: 1, name: "Insights" });
    await waitFor(() => expect(document.activeElement).toBe(heading));
  });

  /** And where what the page is about comes later than the page. */
  it("moves the focus when there is a heading", async () => {
    let come: (() => void) | undefined;
    await open([], {
      run_detail: () => new Promise((resolve) => (come = () => resolve(detail()))) as never,
    });
    for (const elsewhere of [false, true]) {
      location.hash = `#/runs/${RUN}`;
      const main = screen.getByRole("main");
      await waitFor(() => expect(document.activeElement).toBe(main));
      const link = screen.getByRole("link", { name: "Insights" });
      if (elsewhere) link.focus();
      come?.();
      const heading = await screen.findByRole("heading", { level: 1, name: /Write a greeting/ });
      await waitFor(() => expect(document.activeElement).toBe(elsewhere ? link : heading));
      location.hash = "#/tasks";
      await screen.findByRole("heading", { level: 1, name: "What should be done?" });
    }
  });

  /** Every link has its name in words and as a note, however narrow the bar is. */
  it("names its links", async () => {
    await open();
    const links = within(screen.getByRole("navigation")).getAllByRole("link");
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) {
      expect(link.title).not.toBe("");
      expect(link.textContent).toContain(link.title);
    }
  });

  /** An address that leads nowhere says so. */
  it("says when there is no page", async () => {
    location.hash = "#/nowhere";
    await open();
    expect(
      await screen.findByRole("heading", { level: 2, name: "There is no such page" }),
    ).toBeTruthy();
  });

  /** Stop is there as soon as something goes, F8 leads to it, and it stops everything. */
  it("stops everything", async () => {
    const going = summary({ id: "g", status: "running", going: true, endedAt: null });
    await open([going], { runs_stop_all: () => ({ runs: ["g"] }) });
    const stop = await screen.findByRole("button", { name: "Stop everything" });
    await user.keyboard("{F8}");
    expect(document.activeElement).toBe(stop);
    await user.keyboard("{Control>}.{/Control}");
    expect(backend.requests("runs_stop_all")).toHaveLength(1);
    expect(await screen.findByText(/Stopped 1 run/)).toBeTruthy();
  });

  /** A stop that takes its time is not told as one that failed. */
  it("says that a run is still stopping", async () => {
    const going = summary({ id: "g", status: "running", going: true, endedAt: null });
    const slow = () => {
      throw new CallFailed(failure("run g has not ended yet", "still_stopping"));
    };
    await open([going], { runs_stop_all: slow });
    await user.click(await screen.findByRole("button", { name: "Stop everything" }));
    expect(await screen.findByText(/was told to stop and has not ended yet/)).toBeTruthy();
    expect(screen.queryByText(/could not be stopped/)).toBeNull();
  });

  /** Without contact it says so and keeps what it shows. */
  it("says when contact is lost", async () => {
    await open();
    backend.lose();
    expect(await screen.findByText(/Lost contact with the core/)).toBeTruthy();
    expect(await screen.findByRole("link", { name: /Write a greeting/ })).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** What was told while nobody answered is asked for when contact is there again: no event comes twice. */
  it("asks again for what was not answered", async () => {
    let away = false;
    let over = false;
    const answer = <T>(given: T): T => {
      if (away) throw new CallFailed(failure("nobody answers", "unreachable"));
      return given;
    };
    const run = (id: string) =>
      summary({ id, text: id, status: over ? "done" : "running", going: !over });
    await open([], {
      approvals_list: () => answer({ approvals: over ? [question()] : [] }),
      // The old one is on a later page.
      runs_list: () => answer({ runs: over ? [run("new")] : [run("new"), run("old")], cursor: 0 }),
      runs_get: (request) => answer({ runs: request.runs.map(run), cursor: 0 }),
    });
    await waitFor(() => expect(runs.going).toHaveLength(2));
    away = true;
    over = true;
    const event = { id: 1, topic: "run", seq: 1, at: 1, kind: "run.approval_asked", v: 1 };
    backend.tell({ ...event, key: "new", payload: {} }, { ...event, key: "old", payload: {} });
    await waitFor(() => expect(backend.requests("runs_get")).toHaveLength(1));
    backend.lose();
    expect(await screen.findByText(/Lost contact with the core/)).toBeTruthy();
    away = false;
    backend.regain();
    expect(await screen.findByRole("button", { name: "Approvals: 1 waits" })).toBeTruthy();
    await waitFor(() => expect(runs.get("old")?.status).toBe("done"));
    expect(runs.get("new")?.status).toBe("done");
  });

  /** A question is asked for again although contact was never lost. */
  it("asks again for questions", async () => {
    let asked = 0;
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await open([summary()], {
      approvals_list: () => {
        asked += 1;
        if (asked === 2) throw new CallFailed(failure("the database is busy", "store"));
        return { approvals: asked > 2 ? [question()] : [] };
      },
    });
    expect(asked).toBe(1);
    const event = { id: 1, topic: "run", key: RUN, seq: 1, at: 1, kind: "run.approval_asked" };
    backend.tell({ ...event, v: 1, payload: {} });
    await waitFor(() => expect(asked).toBe(2));
    await vi.advanceTimersByTimeAsync(3_000);
    vi.useRealTimers();
    expect(await screen.findByRole("button", { name: "Approvals: 1 waits" })).toBeTruthy();
  });

  /** Who holds an old link is told what to do, and nothing is tried again. */
  it("says when its link has expired", async () => {
    await open();
    backend.expire();
    expect(await screen.findByText(/The link of this page has expired/)).toBeTruthy();
    expect(screen.getByText("openspace serve --open")).toBeTruthy();
    expect(screen.queryByText(/Lost contact/)).toBeNull();
    expect(await violations()).toEqual([]);
  });

  /** So it is when the first question is refused. */
  it("says so from the beginning", async () => {
    let asked = 0;
    const refuse = () => {
      asked += 1;
      throw new CallFailed(failure("the token is another", "expired"));
    };
    backend = new FakeBackend({ app_state: refuse, runs_list: refuse, approvals_list: refuse });
    useBackend(backend);
    render(App);
    expect(await screen.findByText(/The link of this page has expired/)).toBeTruthy();
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(asked).toBe(before);
  });

  /** A core that is away at first is asked again, and then everything is there. */
  it("waits for the core", async () => {
    let away = true;
    const gone = () => {
      throw new CallFailed(failure("nobody answers", "unreachable"));
    };
    backend = new FakeBackend({
      app_state: () => (away ? gone() : appState({ cursor: 5 })),
      runs_list: () => (away ? gone() : { runs: [summary()], cursor: 5 }),
      approvals_list: () => (away ? gone() : { approvals: [] }),
      models_list: () => ({ providers: [], models: [] }),
      ui_state_get: () => ({ value: null }),
      ui_state_set: () => ({}),
    });
    useBackend(backend);
    render(App);
    expect(await screen.findByText(/Lost contact with the core/)).toBeTruthy();
    expect(backend.heard).toBe(false);
    away = false;
    expect(await screen.findByRole("link", { name: /Write a greeting/ })).toBeTruthy();
    expect(await screen.findByText("Connected")).toBeTruthy();
  });

  /** The core's language counts, and a change of it reaches every word. */
  it("speaks the language of the program", async () => {
    backend = new FakeBackend();
    await open([summary()]);
    await speaker.speak("zh-Hans");
    expect(await screen.findByText("已连接")).toBeTruthy();
    expect(document.documentElement.lang).toBe("zh-Hans");
    await speaker.speak("en");
  });

  /** What is said when the program is known, such as that a run asks, is said in that language. */
  it("speaks it from the first word", async () => {
    useBackend(new FakeBackend({ app_state: () => appState({ language: "zh-Hans" }) }));
    const loaded = program.load();
    await vi.waitUntil(() => program.state !== null, { interval: 0 });
    expect(speaker.speech).toBe("zh-Hans");
    await loaded;
    await speaker.speak("en");
  });
});

describe("the palette", () => {
  /** It opens by its key, finds by words, and Enter does what is chosen. */
  it("finds and does", async () => {
    await open();
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(await violations()).toEqual([]);
    await user.type(field, "greeting");
    expect(await screen.findByRole("option", { name: /Write a greeting/ })).toBeTruthy();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(location.hash).toBe(`#/runs/${RUN}`));
  });

  /** The keys of an input method choose words there, not here, in WebKit too. */
  it("leaves keys to the input method", async () => {
    await open();
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await user.type(field, "greeting");
    await screen.findByRole("option", { name: /Write a greeting/ });
    await fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(screen.getByRole("dialog")).toBeTruthy();
    expect(location.hash).toBe("");
  });

  /** Hosts are found by their names, with what can be begun with each. */
  it("finds hosts", async () => {
    await open();
    backend.answers.hosts_list = () => ({
      hosts: [
        host("codex", "registered", { name: "Codex" }),
        host("cursor", "not_registered", { name: "Cursor" }),
        host("kiro", "not_found", { name: "Kiro" }),
      ],
      others: [],
      strangers: [],
    });
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await user.type(field, "cod");
    expect(await screen.findByRole("option", { name: "Codex: details" })).toBeTruthy();
    expect(screen.getByRole("option", { name: "Codex: test the connection" })).toBeTruthy();
    expect(screen.queryByRole("option", { name: "Codex: register…" })).toBeNull();
    expect(await violations()).toEqual([]);
    await user.clear(field);
    await user.type(field, "kiro");
    expect(screen.queryByRole("option", { name: /Kiro/ })).toBeNull();
    await user.clear(field);
    await user.type(field, "cursor register");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(location.hash).toBe("#/hosts/cursor?act=register"));
  });

  /** A question mark asks for help: about pages, by every word of it, and about keys. */
  it("finds help", async () => {
    await open();
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await user.type(field, "?");
    const group = within(await screen.findByRole("group", { name: "Help" }));
    expect(within(screen.getByRole("listbox")).getAllByRole("group")).toHaveLength(1);
    for (const page of ["Tasks", "Hosts", "Diagnostics", "Settings"])
      expect(group.getByRole("option", { name: `Help: ${page}` })).toBeTruthy();
    await user.type(field, "stop selected");
    expect(screen.getByRole("option", { name: /^Stop the selected run/ })).toBeTruthy();
    await user.clear(field);
    // Words of the text, without the sign.
    await user.type(field, "fewer than five runs");
    await user.click(await screen.findByRole("option", { name: "Help: Insights" }));
    expect(await screen.findByRole("dialog", { name: "Help: Insights" })).toBeTruthy();
    expect(location.hash).toBe("");
    expect(await violations()).toEqual([]);
  });

  /** A setting that was found is where it leads, not only its section. */
  it("leads to a setting", async () => {
    await open([summary()], {
      settings_list: () => ({
        settings: ["policy.preset", "run.max_steps"].map((key) => ({
          key,
          value: key === "run.max_steps" ? "50" : '"ask-risky"',
          default: "",
          origin: "default" as const,
          originName: null,
          about: "",
        })),
        wrong: null,
      }),
      rules_list: () => ({ rules: [] }),
      hotkeys_list: () => ({ hotkeys: [] }),
    });
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await user.type(field, "most steps");
    await user.click(await screen.findByRole("option", { name: "Most steps" }));
    await waitFor(() => expect(location.hash).toBe("#/settings/safety?row=run.max_steps"));
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole("group", { name: "Most steps" })),
    );
  });

  /** A sign before the words leaves only actions; nothing that fits is said. */
  it("can be narrowed", async () => {
    await open();
    await user.keyboard("{Control>}k{/Control}");
    const field = await screen.findByRole("combobox", { name: "Commands and places" });
    await user.type(field, ">greeting");
    expect(await screen.findByText("Nothing fits. Try fewer words.")).toBeTruthy();
  });
});

describe("the edges", () => {
  /** How other agents reach it, how many know it, and the version, each leading to its page. */
  it("say how it stands", async () => {
    await open([summary()], {
      mcp_server: () => ({
        state: "listening",
        port: 8091,
        url: "http://127.0.0.1:8091/mcp",
        freePort: null,
        reason: null,
        tokenFile: "/t",
        canCopy: false,
      }),
      hosts_list: () => ({
        hosts: [host("codex", "registered"), host("kiro", "not_found")],
        others: [],
        strangers: [],
      }),
    });
    const status = within(screen.getByRole("contentinfo"));
    for (const [name, address] of [
      ["MCP 127.0.0.1:8091/mcp", "#/settings/agents"],
      ["1 host registered", "#/hosts"],
      ["Version 0.1.0", "#/settings/about"],
    ] as const)
      expect((await status.findByRole("link", { name })).getAttribute("href")).toBe(address);
    expect(await violations()).toEqual([]);
  });

  /** Problems that the checks found are counted where their page is reached, without going there. */
  it("tell of problems", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await open([summary()], {
      checks_list: () => ({ checks: ["model", "space", "screen", "data"] }),
      check_run: ({ check }) => ({
        findings: [
          {
            id: check,
            health: check === "space" ? "problem" : "ok",
            found: [],
            fix: null,
            host: null,
            detail: null,
            needsRestart: false,
          },
        ],
        milliseconds: 1,
      }),
    });
    expect(backend.requests("checks_list")).toEqual([]);
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    expect(await screen.findByRole("link", { name: /Diagnostics.*1 problem$/ })).toBeTruthy();
    // Nothing that may open a keychain or make the system ask something.
    expect(backend.requests("check_run").map(({ check }) => check)).toEqual(["space", "data"]);
  });
});

/** Help names the keys of the page. */
it("helps", async () => {
  await open();
  await user.keyboard("{F1}");
  expect(await screen.findByRole("dialog", { name: "Help for this page" })).toBeTruthy();
  expect(screen.getByText("Stop the selected run")).toBeTruthy();
  expect(await violations()).toEqual([]);
});
