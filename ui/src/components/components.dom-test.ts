import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { createRawSnippet, type Component } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeBackend, failure } from "../../tests/fake-backend";
import { violations } from "../../tests/axe";
import { useBackend } from "../lib/api";
import { speaker } from "../lib/i18n.svelte";
import { toasts } from "../lib/state/toasts.svelte";
import Badge from "./Badge.svelte";
import Banner from "./Banner.svelte";
import Button from "./Button.svelte";
import CodeBlock from "./CodeBlock.svelte";
import CopyButton from "./CopyButton.svelte";
import Dialog from "./Dialog.svelte";
import DriverChip from "./DriverChip.svelte";
import EmptyState from "./EmptyState.svelte";
import FilterChip from "./FilterChip.svelte";
import Frame from "./Frame.svelte";
import IconButton from "./IconButton.svelte";
import InlineError from "./InlineError.svelte";
import KeyCap from "./KeyCap.svelte";
import Menu from "./Menu.svelte";
import Segmented from "./Segmented.svelte";
import Select from "./Select.svelte";
import Skeleton from "./Skeleton.svelte";
import StatusPill from "./StatusPill.svelte";
import Switch from "./Switch.svelte";
import TextArea from "./TextArea.svelte";
import TextField from "./TextField.svelte";
import Toasts from "./Toasts.svelte";

const words = (text: string) => createRawSnippet(() => ({ render: () => `<span>${text}</span>` }));
const nothing = () => undefined;
const user = userEvent.setup();

beforeEach(() => useBackend(new FakeBackend()));

/** What the core says in English is marked so, and its advice for the command line stays away. */
it("an error speaks the language of the window", async () => {
  const raw = {
    ...failure("no model is named", "credentials"),
    hint: "give --model, or: openspace config set model.name NAME",
  };
  await speaker.speak("zh-Hans");
  render(InlineError, { props: { failure: raw, what: "x" } });
  const alert = screen.getByRole("alert");
  expect(alert.textContent).not.toMatch(/--model|openspace config/);
  expect(alert.textContent).toContain("请在设置的“模型与密钥”中选择模型并保存密钥。");
  expect(screen.getByText(/no model is named/).lang).toBe("en");
  await speaker.speak("en");
});

// Each component in each of its states.
const STATES: [string, Component<never>, Record<string, unknown>][] = [
  ["Badge", Badge, { count: 2, label: "2 runs need you", tone: "warn" }],
  ["Banner", Banner, { tone: "danger", role: "alert", children: words("It stopped.") }],
  ["Button", Button, { children: words("Start") }],
  ["Button as a link", Button, { href: "#/tasks", children: words("Back") }],
  ["Button that works", Button, { busy: true, kind: "primary", children: words("Start") }],
  ["CodeBlock", CodeBlock, { text: "a\nb\nc\nd", label: "Output", lines: 2 }],
  ["CopyButton", CopyButton, { text: "x" }],
  ["DriverChip", DriverChip, { driver: "agent", app: "mousepad" }],
  ["EmptyState", EmptyState, { title: "No tasks", text: "Start one.", children: words("…") }],
  ["FilterChip", FilterChip, { pressed: true, count: 3, onclick: nothing, children: words("All") }],
  ["Frame", Frame, { frame: "f", alt: "A window", size: { width: 20, height: 10 } }],
  ["IconButton", IconButton, { label: "Pause", hint: "P", children: words("‖") }],
  ["InlineError", InlineError, { failure: failure("x"), what: "It failed.", onretry: nothing }],
  ["KeyCap", KeyCap, { key: "Mod+K" }],
  [
    "Menu",
    Menu,
    { label: "More", groups: [[{ label: "Copy", run: nothing }]], children: words("…") },
  ],
  [
    "Segmented",
    Segmented,
    {
      label: "Side",
      value: "a",
      options: [
        { value: "a", label: "A" },
        { value: "b", label: "B" },
      ],
    },
  ],
  ["Select", Select, { label: "Model", value: "a", options: [{ value: "a", label: "A" }] }],
  ["Skeleton", Skeleton, {}],
  ["Switch", Switch, { label: "Letters", checked: true }],
  ["TextArea", TextArea, { label: "Task", value: "" }],
  ["TextField", TextField, { label: "Path", value: "", help: "As on this machine" }],
  [
    "TextField with an error",
    TextField,
    { label: "Path", value: "", error: "There is no such folder" },
  ],
  ...(
    [
      "queued",
      "planning",
      "running",
      "needs_approval",
      "needs_you",
      "paused",
      "stopping",
      "stopped",
      "done",
      "failed",
      "limit_reached",
      "interrupted",
    ] as const
  ).map((status): [string, Component<never>, Record<string, unknown>] => [
    `StatusPill ${status}`,
    StatusPill,
    { status },
  ]),
];

/** Everybody can use it: axe finds nothing. */
it.each(STATES)("%s is accessible", async (_name, component, props) => {
  render(component as Component, { props });
  expect(await violations()).toEqual([]);
});

describe("what they do", () => {
  /** A button that works cannot be pressed again. */
  it("a busy button waits", async () => {
    const onclick = vi.fn();
    render(Button, { props: { busy: true, onclick, children: words("Start") } });
    await user.click(screen.getByRole("button"));
    expect(onclick).not.toHaveBeenCalled();
  });

  /** The focus stays on it meanwhile, and it submits nothing. */
  it("a busy button keeps the focus", async () => {
    const onsubmit = vi.fn((event: Event) => event.preventDefault());
    const form = document.createElement("form");
    form.addEventListener("submit", onsubmit);
    document.body.append(form);
    const props = { type: "submit" as const, children: words("Start") };
    const { rerender } = render(Button, { target: form, props });
    await user.tab();
    await rerender({ ...props, busy: true });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Start" }));
    expect(screen.getByRole("button").getAttribute("aria-disabled")).toBe("true");
    await user.keyboard("{Enter}");
    expect(onsubmit).not.toHaveBeenCalled();
    await rerender({ ...props, busy: false });
    await user.keyboard("{Enter}");
    expect(onsubmit).toHaveBeenCalledOnce();
  });

  /** Arrows choose among the few, and the focus goes along. */
  it("segments follow the arrows", async () => {
    const onchange = vi.fn();
    const options = [
      { value: "a", label: "A" },
      { value: "b", label: "B", disabled: true },
      { value: "c", label: "C" },
    ];
    render(Segmented, { props: { label: "Side", value: "a", options, onchange } });
    screen.getByRole("radio", { name: "A" }).focus();
    await user.keyboard("{ArrowRight}");
    expect(onchange).toHaveBeenLastCalledWith("c");
    expect(document.activeElement).toBe(screen.getByRole("radio", { name: "C" }));
  });

  /** A switch says whether it is on. */
  it("a switch toggles", async () => {
    render(Switch, { props: { label: "Letters", checked: false } });
    await user.click(screen.getByRole("switch", { name: "Letters" }));
    expect(screen.getByRole("switch").getAttribute("aria-checked")).toBe("true");
  });

  /** A menu opens by the button, does what is picked, and gives the focus back. */
  it("a menu opens and closes", async () => {
    const run = vi.fn();
    render(Menu, {
      props: { label: "More", groups: [[{ label: "Copy", run }]], children: words("…") },
    });
    await user.click(screen.getByRole("button", { name: "More" }));
    const item = await screen.findByRole("menuitem", { name: "Copy" });
    expect(await violations()).toEqual([]);
    await user.click(item);
    expect(run).toHaveBeenCalledOnce();
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
  });

  /** A dialog has its name, and Escape closes it. */
  it("a dialog closes", async () => {
    const onclose = vi.fn();
    render(Dialog, { props: { open: true, title: "Export", onclose, children: words("Files") } });
    expect(await screen.findByRole("dialog", { name: "Export" })).toBeTruthy();
    expect(await violations()).toEqual([]);
    // That of an input method takes back what was being written there.
    await fireEvent.keyDown(screen.getByRole("dialog"), { key: "Escape", isComposing: true });
    expect(onclose).not.toHaveBeenCalled();
    await user.keyboard("{Escape}");
    expect(onclose).toHaveBeenCalled();
  });

  /** Long output is cut until the rest is asked for. */
  it("code can be shown whole", async () => {
    render(CodeBlock, { props: { text: "a\nb\nc\nd", label: "Output", lines: 2 } });
    expect(screen.getByRole("region").textContent).toBe("a\nb");
    await user.click(screen.getByRole("button", { name: "2 more lines" }));
    expect(screen.getByRole("region").textContent).toBe("a\nb\nc\nd");
  });

  /** At most three notes are there, and each can be closed. */
  it("notes are few", async () => {
    render(Toasts);
    ["one", "two", "three", "four"].forEach((text) => toasts.show(text));
    expect((await screen.findAllByRole("status")).map((toast) => toast.textContent.trim())).toEqual(
      ["two", "three", "four"],
    );
    expect(await violations()).toEqual([]);
    const [close] = screen.getAllByRole("button", { name: "Close" });
    if (close) await user.click(close);
    expect(screen.queryByText("two")).toBeNull();
    toasts.list.forEach((toast) => toasts.close(toast.id));
  });

  /** While one is held its time rests; afterwards it has what was left of it, and its end is told once. */
  it("notes can be held", async () => {
    vi.useFakeTimers();
    const ended = vi.fn();
    render(Toasts);
    const region = screen.getByRole("region", { name: "Notes" });
    toasts.show("long", { for: 10_000, onend: ended });
    await vi.advanceTimersByTimeAsync(9_000);
    await fireEvent.pointerEnter(region);
    toasts.show("new");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(toasts.list.map(({ text }) => text)).toEqual(["long", "new"]);
    expect(ended).not.toHaveBeenCalled();
    await fireEvent.pointerLeave(region);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(toasts.list.map(({ text }) => text)).toEqual(["new"]);
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    expect(toasts.list).toEqual([]);
    expect(ended).toHaveBeenCalledOnce();
  });

  /** Marks lie in the pixels of the picture as it was sent, whatever its own size is. */
  it("a frame draws its marks", async () => {
    const marks = {
      size: { width: 1280, height: 800 },
      marks: [
        { kind: "click" as const, at: { x: 1140, y: 772 }, times: 1, button: "left" as const },
      ],
    };
    render(Frame, {
      props: { frame: "f", alt: "Save as", marks, size: { width: 640, height: 400 } },
    });
    const point = document.querySelector('[data-mark="point"]');
    expect([point?.getAttribute("cx"), point?.getAttribute("cy")]).toEqual(["1140", "772"]);
    expect(point?.closest("svg")?.getAttribute("viewBox")).toBe("0 0 1280 800");
    expect((await screen.findByRole("img")).getAttribute("alt")).toBe("Save as");
  });
});
