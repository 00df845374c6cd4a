import type { ApprovalView, AppState, RunDetail, RunSummary } from "../src/lib/api";
import type { StoredEvent } from "../src/lib/bindings/StoredEvent";
import demo from "./samples/demo-run.json";

/** Events of a real run of the recorded demo. */
export const EVENTS = demo.events as unknown as StoredEvent[];
export const RUN = demo.run.id;

const USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  images: 0,
  total: 0,
  dollars: null,
};

export function summary(over: Partial<RunSummary> = {}): RunSummary {
  return {
    id: RUN,
    task: "t",
    session: "s",
    text: demo.task,
    origin: "demo",
    status: "done",
    reason: null,
    step: 11,
    stepLabel: null,
    model: "recorded/demo",
    usage: USAGE,
    createdAt: 1796010047568,
    startedAt: 1796010047568,
    endedAt: 1796010052296,
    going: false,
    inControl: false,
    canContinue: false,
    approvals: [],
    answer: demo.run.outcome.answer,
    ...over,
  };
}

export function detail(over: Partial<RunDetail> = {}): RunDetail {
  const run = over.run ?? summary();
  return {
    run,
    spec: {
      model: run.model,
      backends: ["shell", "gui"],
      workspace: "/home/ana/openspace-demo",
      preset: "ask-risky",
      allow: [],
      display: "private",
      monitor: null,
      attachments: [],
    },
    limits: { steps: 50, minutes: null, tokens: null, dollars: null },
    events: EVENTS,
    frames: [],
    artefacts: [],
    changes: [],
    approvals: [],
    waitingMessages: [],
    modelCalls: [],
    outcome: demo.run.outcome,
    conversation: [run],
    cursor: 75,
    ...over,
  };
}

export function question(over: Partial<ApprovalView> = {}): ApprovalView {
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
  } as ApprovalView;
}

export function appState(over: Partial<AppState> = {}): AppState {
  return {
    version: "0.1.0",
    place: "page",
    system: "linux",
    language: "en",
    marker: "\u2060OpenSpace\u2060",
    cursor: 0,
    model: "anthropic/claude-opus-4",
    display: ":0",
    noScreen: null,
    inControl: [],
    openApprovals: 0,
    home: "/home/ana",
    data: "/home/ana/.local/share/openspace",
    settingsFile: "/home/ana/.config/openspace/settings.toml",
    runner: true,
    needsRestart: [],
    ...over,
  };
}
