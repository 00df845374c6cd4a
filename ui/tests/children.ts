import type { ChildProcess } from "node:child_process";

/** What a child printed, once it fits. */
export function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (part: Buffer) => {
      text += part.toString();
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${text}`)));
  });
}

/** Ends a child that may have ended already. */
export async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals) {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}
