import { readdirSync, readFileSync } from "node:fs";

/** Ends what a core started apart from itself and what belongs to this home: runners stay a moment. */
export async function endApart(home: string): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const pid of of(home)) kill(pid, signal);
    for (let round = 0; round < 100; round += 1) {
      if (of(home).length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function of(home: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && belongs(pid, home));
}

function belongs(pid: number, home: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    return variables.includes(`OPENSPACE_HOME=${home}/data`);
  } catch {
    // It is gone, or somebody else's.
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It went by itself.
  }
}
