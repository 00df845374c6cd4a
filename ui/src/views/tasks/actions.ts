import { rpc, type RunSummary } from "../../lib/api";
import { failureOf } from "../../lib/backend/backend";
import { notDone } from "../../lib/failure";
import { t, type MessageKey } from "../../lib/i18n.svelte";
import { router } from "../../lib/router.svelte";
import { runs, UNDO } from "../../lib/state/runs.svelte";
import { toasts } from "../../lib/state/toasts.svelte";
import { composer } from "../../lib/state/composer.svelte";

/** Does something for the person and says so when it does not work. */
async function attempt(what: MessageKey, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    toasts.show(notDone(t(what), failureOf(thrown)), { tone: "danger" });
  }
}

export function stopRun(run: RunSummary): Promise<void> {
  return attempt("ui.stop.failed", async () => {
    await rpc("run_stop", { run: run.id });
    runs.touch(run.id);
  });
}

export function commandRun(run: RunSummary, command: "pause" | "resume"): Promise<void> {
  return attempt("ui.run.command_failed", async () => {
    await rpc("run_command", { run: run.id, command });
  });
}

export function continueRun(run: RunSummary): Promise<void> {
  return attempt("ui.run.continue_failed", async () => {
    await rpc("run_continue", { run: run.id });
    router.go({ name: "run", id: run.id });
  });
}

export function retryRun(run: RunSummary): Promise<void> {
  return attempt("ui.run.retry_failed", async () => {
    const started = await rpc("run_retry", { run: run.id });
    router.go({ name: "run", id: started.run });
  });
}

/** The same task in the composer, to be changed before it starts. */
export function duplicateRun(run: RunSummary): void {
  composer.changed({ task: run.text });
  router.go({ name: "tasks", compose: true });
}

export function copyPrompt(run: RunSummary): Promise<void> {
  return attempt("ui.copy.failed", async () => {
    await navigator.clipboard.writeText(run.text);
    toasts.show(t("ui.copied"));
  });
}

/** Deletes a run with its pictures, unless that is undone while the note about it is there. */
export function deleteRun(run: RunSummary): void {
  runs.leave(run.id);
  toasts.show(t("ui.run.deleted"), {
    for: UNDO,
    action: { label: t("ui.run.delete_undo"), run: () => runs.keep(run.id) },
    onend: () => void attempt("ui.run.delete_failed", () => runs.delete(run.id)),
  });
}
