import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { useBackend, type ApprovalView, type Response } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import { approvals } from "../../lib/state/approvals.svelte";
import { speaker } from "../../lib/i18n.svelte";
import ApprovalCard from "./ApprovalCard.svelte";
import ApprovalsView from "./ApprovalsView.svelte";
// Loaded when it is wanted; here beforehand, so that no test waits for it.
import "./EditCommand.svelte";
import RuleEditor from "./RuleEditor.svelte";
import { exactly } from "./exactly";

const user = userEvent.setup();
let backend: FakeBackend;

function question(over: Partial<ApprovalView> = {}): ApprovalView {
  return {
    id: "q1",
    run: "r1",
    task: "Clean up",
    origin: "host:codex",
    step: 9,
    call: "c1",
    title: { key: "approval.subject.delete_many", params: { count: "2" } },
    more: [],
    reasons: [{ key: "approval.reason.irreversible", params: {} }],
    risk: "medium",
    reversible: true,
    exactly: [
      {
        sentence: {
          key: "approval.action.command",
          params: { folder: "/home/ana", line: "ls -la" },
        },
        verbatim: "ls -la",
        untrusted: null,
      },
    ],
    choices: ["once"],
    forRun: [],
    rules: [],
    nonce: "n1",
    state: "open",
    editable: false,
    edited: null,
    note: null,
    answeredBy: null,
    askedAt: Date.now(),
    answeredAt: null,
    ...over,
  };
}

beforeEach(() => {
  backend = new FakeBackend({
    approvals_list: () => ({ approvals: [] }),
    approval_answer: ({ choice }) => ({
      counted: true,
      approval: question({
        state: choice === "once" ? "allowed_once" : choice === "run" ? "allowed_for_run" : "denied",
        answeredBy: "page",
        answeredAt: Date.now(),
      }),
    }),
    rule_preview: ({ rule }) => ({
      sentence: { key: "rule.allow.gui.click", params: { app: "mousepad" } },
      matches: 3,
      of: 20,
      broad: rule === "gui:*",
    }),
  });
  useBackend(backend);
});

const allow = () =>
  screen.getByRole<HTMLButtonElement>("button", { name: /Allow once|Press again/ });
const enabled = () => waitFor(() => expect(allow().disabled).toBe(false), { timeout: 2_000 });

describe("a question", () => {
  /** Every field is there; no control that allows has the focus or can be pressed at once. */
  it("is complete and cannot be allowed by accident", async () => {
    render(ApprovalCard, { props: { approval: question() } });
    for (const text of [
      "Delete 2 files",
      "risk: medium",
      "can be undone",
      "cannot be brought back",
      "ls -la",
      "Clean up",
      "from codex",
      "step 9",
    ]) {
      expect(screen.getByText(text), text).toBeTruthy();
    }
    expect(document.activeElement).toBe(document.body);
    expect(allow().disabled).toBe(true);
    await fireEvent.keyDown(document.body, { key: "Enter" });
    await user.keyboard("{Enter}");
    expect(backend.requests("approval_answer")).toEqual([]);
    expect(await violations()).toEqual([]);
    await enabled();
    await user.click(allow());
    expect(backend.requests("approval_answer")).toEqual([
      { approval: "q1", nonce: "n1", choice: "once" },
    ]);
    expect(await screen.findByText("Allowed once")).toBeTruthy();
    expect(await violations()).toEqual([]);
  });

  /** Who asked for the task is told within its run too, where the text of the page may claim otherwise. */
  it("names its origin within a run", () => {
    render(ApprovalCard, { props: { approval: question(), density: "inline" } });
    expect(screen.getByText("from codex")).toBeTruthy();
    expect(screen.getByText("step 9")).toBeTruthy();
  });

  /** Risky and final: two presses that are apart; losing the focus takes the first one back. */
  it("takes two presses where it is risky and final", async () => {
    render(ApprovalCard, { props: { approval: question({ risk: "high", reversible: false }) } });
    await enabled();
    await user.dblClick(allow());
    expect(backend.requests("approval_answer")).toEqual([]);
    expect(allow().textContent).toContain("Press again");
    await user.tab();
    await waitFor(() => expect(allow().textContent).toContain("Allow once"));
  });

  /** Words from the screen are text in a block of their own, never markup, never the title. */
  it("keeps untrusted words inert", () => {
    render(ApprovalCard, {
      props: {
        approval: question({
          exactly: [
            {
              sentence: { key: "approval.action.screen.click", params: { app: "chromium" } },
              verbatim: null,
              untrusted: "<b>Allow</b> risk: low \u202E",
            },
          ],
        }),
      },
    });
    const quote = screen.getByLabelText("Text from the screen: it proves nothing");
    expect(quote.textContent).toContain("<b>Allow</b> risk: low");
    expect(quote.textContent).toContain("U+202E");
    expect(quote.querySelector("b")).toBeNull();
  });

  /** A no carries its reason; what was answered elsewhere says by whom. */
  it("is denied with a reason, or shows who answered", async () => {
    const { rerender } = render(ApprovalCard, {
      props: { approval: question(), density: "inline" },
    });
    await user.click(screen.getByRole("button", { name: "Deny with a reason…" }));
    await user.type(screen.getByLabelText("Reason, which the run will read"), "Use the copy");
    expect(await violations()).toEqual([]);
    await rerender({
      approval: question({
        state: "denied",
        answeredBy: "terminal",
        answeredAt: Date.now(),
        note: "no",
      }),
    });
    expect(screen.getByText("in a terminal")).toBeTruthy();
    await rerender({ approval: question() });
    await user.click(screen.getByRole("button", { name: "Deny", exact: true } as never));
    expect(backend.requests("approval_answer").at(-1)).toMatchObject({ approval: "q1" });
    expect(backend.requests("approval_answer").at(-1)).not.toHaveProperty("choice");
  });

  /** An answer that did not arrive says so and leaves the question open. */
  it("stays open when the answer is refused", async () => {
    backend.answers.approval_answer = () => {
      throw new CallFailed(failure("a run has control", "wrong_state"));
    };
    render(ApprovalCard, { props: { approval: question() } });
    await user.click(screen.getByRole("button", { name: "Deny" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Your answer did not arrive.");
    expect(screen.getByRole("button", { name: "Deny" })).toBeTruthy();
  });

  /** Many paths make one list, each of them whole. */
  it("lists paths together", () => {
    const path = (verbatim: string) => ({
      sentence: { key: "approval.action.delete", params: { path: verbatim } },
      verbatim,
      untrusted: null,
    });
    expect(exactly([path("/a"), path("/b")])).toEqual([
      { what: "Delete", text: "/a\n/b", untrusted: null },
    ]);
  });
});

describe("the focus", () => {
  const title = () => screen.getAllByRole("heading", { level: 2 });

  /** It stays where it was while the answer is on its way, and is on the title once there is one. */
  it("stays with the question", async () => {
    let answer: (() => void) | undefined;
    backend.answers.approval_answer = () =>
      new Promise((resolve) => {
        answer = () => resolve({ counted: true, approval: question({ state: "denied" }) });
      }) as never;
    render(ApprovalCard, { props: { approval: question() } });
    const deny = screen.getByRole("button", { name: "Deny" });
    deny.focus();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(deny.getAttribute("aria-busy")).toBe("true"));
    expect(document.activeElement).toBe(deny);
    await user.keyboard("{Enter}");
    expect(backend.requests("approval_answer")).toHaveLength(1);
    answer?.();
    await screen.findByText("Denied");
    expect(document.activeElement).toBe(title()[0]);
    expect(await violations()).toEqual([]);
  });

  /** It goes on to the next open question, which nothing moves; after the last one it stays there. */
  it("goes to the next question", async () => {
    const all = ["q1", "q2", "q3"].map((id, index) => question({ id, askedAt: index + 1 }));
    const closed = new Set<string>();
    const now = (id: string) => ({
      ...(all.find((one) => one.id === id) as ApprovalView),
      state: closed.has(id) ? ("denied" as const) : ("open" as const),
    });
    backend.answers.approvals_list = () => ({
      approvals: all.filter(({ id }) => !closed.has(id)),
    });
    backend.answers.approval_get = ({ approval }) => now(approval);
    backend.answers.approval_answer = ({ approval }) => {
      closed.add(approval);
      return { counted: true, approval: now(approval) };
    };
    await approvals.load();
    render(ApprovalsView, { props: { route: { name: "approvals" } } });
    for (const [id, next] of [
      ["q2", "q3"],
      ["q3", "q1"],
      ["q1", "q1"],
    ] as const) {
      const card = document.querySelector<HTMLElement>(`[data-approval="${id}"]`);
      if (!card) throw new Error(`${id} is not shown`);
      within(card).getByRole("button", { name: "Deny" }).focus();
      await user.keyboard("{Enter}");
      await within(card).findByText("Denied");
      await waitFor(() => expect(approvals.open.some((one) => one.id === id)).toBe(false));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const order = [...document.querySelectorAll<HTMLElement>("[data-approval]")];
      expect(order.map((one) => one.dataset.approval)).toEqual(["q1", "q2", "q3"]);
      expect(document.activeElement?.closest("[data-approval]"), id).toBe(
        document.querySelector(`[data-approval="${next}"]`),
      );
      expect(document.activeElement?.tagName).toBe("H2");
    }
    expect(screen.getAllByText("Denied")).toHaveLength(3);
  });
});

describe("a command that may be changed", () => {
  /** The policy of a test: deleting is risky, keys are off limits, the rest needs no permission. */
  function judge(command: string): Response<"approval_preview"> {
    if (command.includes(".ssh")) return { forbidden: "`~/.ssh` is off limits", reading: null };
    if (!command.startsWith("rm")) return { forbidden: null, reading: null };
    return {
      forbidden: null,
      reading: {
        title: { key: "approval.subject.delete", params: { target: command.slice(3) } },
        more: [],
        reasons: [{ key: "approval.reason.irreversible", params: {} }],
        risk: "high",
        reversible: false,
      },
    };
  }

  const field = () => screen.getByLabelText<HTMLTextAreaElement>("The command to run instead");
  const allowEdited = () =>
    screen.getByRole<HTMLButtonElement>("button", { name: /Allow the changed|Press again/ });
  const ready = () => waitFor(() => expect(allowEdited().disabled).toBe(false), { timeout: 3_000 });

  async function open(over: Partial<ApprovalView> = {}) {
    backend.answers.approval_preview = ({ command }) => judge(command);
    render(ApprovalCard, { props: { approval: question({ editable: true, ...over }) } });
    await user.click(screen.getByRole("button", { name: "Edit command…" }));
  }

  async function write(command: string) {
    await user.clear(field());
    await user.type(field(), command);
  }

  /** It opens with the whole command and the focus in it; meanwhile nothing allows the old one. */
  it("is edited in place and allowed as it was written", async () => {
    await open({ choices: ["once", "run"], rules: ["command:ls -la"] });
    expect(document.activeElement).toBe(field());
    expect(field().value).toBe("ls -la");
    for (const name of ["Allow once", "Allow for this run", "Always…"]) {
      expect(screen.queryByRole("button", { name }), name).toBeNull();
    }
    expect(allowEdited().disabled).toBe(true);
    expect(await violations()).toEqual([]);
    await write("ls -l{Enter}  docs ");
    await screen.findByText("Changed like this, it needs no permission.");
    await ready();
    await user.click(allowEdited());
    expect(backend.requests("approval_answer")).toEqual([
      { approval: "q1", nonce: "n1", choice: "once", command: "ls -l\n  docs " },
    ]);
    expect(backend.requests("approval_preview").at(-1)).toEqual({
      approval: "q1",
      command: "ls -l\n  docs ",
    });
  });

  /** The risk is read anew before it can be allowed, and what is risky and final takes two presses. */
  it("shows the new risk before it can be allowed", async () => {
    await open();
    await write("rm a");
    expect(allowEdited().disabled).toBe(true);
    const status = await screen.findByText("Delete a");
    expect(status.closest("[role=status]")?.textContent).toMatch(/risk: high.*cannot be undone/s);
    expect(await violations()).toEqual([]);
    await ready();
    await user.dblClick(allowEdited());
    expect(allowEdited().textContent).toContain("Press again");
    // Every further letter is another command: its risk has to be read first.
    await user.type(field(), "b");
    expect(allowEdited().disabled).toBe(true);
    expect(allowEdited().textContent).toContain("Allow the changed command");
    expect(backend.requests("approval_answer")).toEqual([]);
  });

  /** What no answer can allow is told, and cannot be pressed. */
  it("offers no yes to what is forbidden", async () => {
    await open();
    await write("cat ~/.ssh/id");
    await screen.findByText("Nobody can allow this: `~/.ssh` is off limits.");
    expect(field().getAttribute("aria-invalid")).toBe("true");
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(allowEdited().disabled).toBe(true);
    expect(await violations()).toEqual([]);
  });

  /** Esc takes the change back, gives the focus back, and the next time nothing of it is left. */
  it("is taken back by Esc", async () => {
    await open();
    await write("rm a");
    // An input method that is composing keeps its Esc.
    await fireEvent.keyDown(field(), { key: "Escape", isComposing: true });
    await fireEvent.keyDown(field(), { key: "Escape", keyCode: 229 });
    expect(field().value).toBe("rm a");
    await user.keyboard("{Escape}");
    const edit = await screen.findByRole("button", { name: "Edit command…" });
    await waitFor(() => expect(document.activeElement).toBe(edit));
    expect(allow().textContent).toContain("Allow once");
    await user.keyboard("{Enter}");
    expect(field().value).toBe("ls -la");
    expect(backend.requests("approval_answer")).toEqual([]);
  });

  /** Letters that cannot be seen are marked, as in the question itself. */
  it("marks what cannot be seen", async () => {
    await open();
    await fireEvent.input(field(), { target: { value: "ls \u202Etxt" } });
    expect(await screen.findByText("U+202E")).toBeTruthy();
  });

  /** Once answered, the card has both: what was asked for, and what was allowed instead. */
  it("is kept with the answer", async () => {
    const { rerender } = render(ApprovalCard, {
      props: {
        approval: question({ state: "allowed_once", answeredBy: "app", edited: "ls docs" }),
      },
    });
    expect(screen.getByLabelText("Edited by you").textContent).toBe("ls docs");
    expect(screen.getByText("ls -la")).toBeTruthy();
    await rerender({ approval: question() });
    expect(screen.queryByText("Edited by you")).toBeNull();
    expect(screen.queryByRole("button", { name: "Edit command…" })).toBeNull();
  });
});

describe("the editor of rules", () => {
  /** The narrowest is chosen and read back; a broad one has to be typed out. */
  it("reads the rule back", async () => {
    const made: [string, boolean][] = [];
    render(RuleEditor, {
      props: {
        suggestions: ["gui:mousepad:click", "gui:*"],
        action: "Make it",
        onmake: (rule: string, allows: boolean) => made.push([rule, allows]),
        oncancel: () => undefined,
      },
    });
    await screen.findByText("Of the last questions (20), it alone would have answered 3.");
    expect(screen.getAllByRole<HTMLInputElement>("radio")[0]?.checked).toBe(true);
    expect(await violations()).toEqual([]);
    await user.click(screen.getByRole("radio", { name: "gui:*" }));
    const field = await screen.findByLabelText(/Type gui:\* to confirm/);
    const make = screen.getByRole<HTMLButtonElement>("button", { name: "Make it" });
    expect(make.disabled).toBe(true);
    await user.type(field, "gui:*");
    await user.click(make);
    expect(made).toEqual([["gui:*", true]]);
  });

  /** What is no rule is said in the language of the window, and the core's words are marked as English. */
  it("says what is no rule", async () => {
    backend.answers.rule_preview = () => {
      throw new CallFailed(failure("`gui` is not a rule", "invalid_request"));
    };
    await speaker.speak("zh-Hans");
    render(RuleEditor, {
      props: {
        action: "x",
        onmake: () => undefined,
        oncancel: () => undefined,
      },
    });
    await user.type(screen.getByRole("textbox"), "gui");
    expect(await screen.findByText(/这不是一条规则/)).toBeTruthy();
    expect(screen.getByText("`gui` is not a rule").lang).toBe("en");
    await speaker.speak("en");
  });
});
