import type { ApprovalView } from "../../lib/api";
import { say } from "../../lib/i18n.svelte";

/** One effect as it is shown: what is done, the full text of it, and words that prove nothing. */
export interface Shown {
  what: string;
  text: string | null;
  untrusted: string | null;
}

type Exact = ApprovalView["exactly"][number];

/** Parts of a sentence that its full text says again. */
const REPEATED = ["line", "path", "url", "program", "arguments"];
/** Kinds of which many come at once: their paths make one list. */
const LISTED = ["approval.action.read", "approval.action.write", "approval.action.delete"];

/** The effects of a call, those of many paths together. */
export function exactly(actions: readonly Exact[]): Shown[] {
  const shown: Shown[] = [];
  let last: Exact | undefined;
  for (const action of actions) {
    const before = shown.at(-1);
    if (before?.text && action.verbatim && together(last, action)) {
      before.text += `\n${action.verbatim}`;
    } else {
      shown.push({ what: what(action), text: action.verbatim, untrusted: action.untrusted });
    }
    last = action;
  }
  return shown;
}

function together(one: Exact | undefined, other: Exact): boolean {
  return (
    one !== undefined &&
    one.sentence.key === other.sentence.key &&
    LISTED.includes(other.sentence.key) &&
    other.untrusted === null
  );
}

function what(action: Exact): string {
  if (action.verbatim === null) return say(action.sentence);
  const params = { ...action.sentence.params };
  for (const name of REPEATED) if (name in params) params[name] = "";
  return say({ key: action.sentence.key, params })
    .trim()
    .replace(/\s*[:：]$/, "");
}
