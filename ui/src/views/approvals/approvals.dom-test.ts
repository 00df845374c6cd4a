import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { violations } from "../../../tests/axe";
import { failure, FakeBackend } from "../../../tests/fake-backend";
import { useBackend, type ApprovalView } from "../../lib/api";
import { CallFailed } from "../../lib/backend/backend";
import ApprovalCard from "./ApprovalCard.svelte";
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
});
