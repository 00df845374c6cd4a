import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { appState } from "../../../tests/samples";
import { useBackend } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import { program } from "../../lib/state/program.svelte";
import DiagnosticsView from "./DiagnosticsView.svelte";
import LogViewer from "./LogViewer.svelte";
import type { Finding } from "./checks.svelte";

function finding(over: Partial<Finding>): Finding {
  const found = [{ key: "check.input.untried", params: {} }];
  return {
    id: "input",
    health: "off",
    found,
    fix: null,
    detail: null,
    host: null,
    needsRestart: false,
    ...over,
  };
}

let backend: FakeBackend;

beforeEach(async () => {
  backend = new FakeBackend({
    app_state: () => appState({ place: "window" }),
    logs_read: () => ({ sources: [], entries: [], more: false }),
    checks_list: () => ({ checks: ["input", "graphics"] }),
    check_run: ({ check }) => ({
      findings: [
        check === "input"
          ? finding({})
          : finding({
              id: "graphics",
              health: "warning",
              found: [
                { key: "check.graphics.view", params: { name: "WebKitGTK", version: "2.50.6" } },
              ],
              fix: { key: "check.graphics.restart.safe", params: {} },
              needsRestart: true,
            }),
      ],
      milliseconds: 1,
    }),
  });
  useBackend(backend);
  await program.load();
});

async function line(check: string) {
  render(DiagnosticsView, { props: { route: { name: "diagnostics" } } });
  return waitFor(() => {
    const found = document.querySelector<HTMLElement>(`[data-check=${check}] .found`);
    if (!found) throw new Error("not yet");
    return within(found.closest("li") as HTMLElement);
  });
}

describe("the click test", () => {
  /** Opening the page takes no mouse; a press does, once, and tells what came of it. */
  it("is made only when asked", async () => {
    const input = await line("input");
    expect(input.getByText("not tried")).toBeTruthy();
    expect(backend.requests("click_test")).toEqual([]);
    expect(await violations()).toEqual([]);
    backend.answers.click_test = () => ({
      findings: [
        finding({
          health: "ok",
          found: [{ key: "check.input.landed", params: { off: "0", ms: "9" } }],
        }),
      ],
      milliseconds: 1_200,
    });
    await fireEvent.click(input.getByRole("button", { name: "Try a click" }));
    expect(await input.findByText(/0 pixels off the middle after 9 ms/)).toBeTruthy();
    expect(backend.requests("click_test")).toHaveLength(1);
  });

  /** Where it is refused that is told, and trying again tries the click again. */
  it("tells why it is refused", async () => {
    backend.answers.click_test = () => {
      throw new CallFailed(failure("a run has the screen and the mouse", "forbidden"));
    };
    const input = await line("input");
    await fireEvent.click(input.getByRole("button", { name: "Try a click" }));
    await fireEvent.click(await input.findByRole("button", { name: "Try again" }));
    await waitFor(() => expect(backend.requests("click_test")).toHaveLength(2));
  });
});

describe("graphics", () => {
  /** What takes effect after a restart offers it. */
  it("offers the restart it needs", async () => {
    let restarted = 0;
    backend.native = { restart: () => Promise.resolve(void restarted++) };
    const graphics = await line("graphics");
    expect(graphics.getByText(/drawn by WebKitGTK 2.50.6/)).toBeTruthy();
    await fireEvent.click(graphics.getByRole("button", { name: "Restart now" }));
    expect(restarted).toBe(1);
    expect(screen.getAllByText(/start the app again/)).toHaveLength(1);
  });
});

/** Followed logs stay at their end, unless somebody scrolled away to read. */
it("follows the logs only while nobody reads", async () => {
  const entry = (text: string) => ({
    time: "2026-11-30T10:00:00.000Z",
    level: "info" as const,
    source: "core",
    text,
  });
  let entries = [entry("one")];
  backend.answers.logs_read = () => ({ sources: ["core"], entries, more: false });
  const scrolled = vi.spyOn(Element.prototype, "scrollTo").mockImplementation(() => undefined);
  vi.useFakeTimers({ shouldAdvanceTime: true });
  try {
    render(LogViewer);
    const list = await screen.findByRole("list", { name: "Logs" });
    Object.defineProperties(list, { scrollHeight: { value: 900 }, clientHeight: { value: 400 } });
    const grow = async (text: string) => {
      entries = [...entries, entry(text)];
      await vi.advanceTimersByTimeAsync(1_100);
      await screen.findByText(text);
    };
    await fireEvent.click(screen.getByRole("switch", { name: "Follow" }));
    await waitFor(() => expect(scrolled).toHaveBeenCalledTimes(1));
    list.scrollTop = 500;
    await grow("two");
    expect(scrolled).toHaveBeenCalledTimes(2);
    list.scrollTop = 100;
    await grow("three");
    expect(scrolled).toHaveBeenCalledTimes(2);
    list.scrollTop = 500;
    await grow("four");
    expect(scrolled).toHaveBeenCalledTimes(3);
  } finally {
    vi.useRealTimers();
    scrolled.mockRestore();
  }
});
