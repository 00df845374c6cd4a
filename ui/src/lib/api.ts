import type { Backend } from "./backend/backend";
import type { RpcSchema } from "./bindings/RpcSchema";

/** What a call takes. */
export type Request<K extends keyof RpcSchema> = RpcSchema[K][0];
/** What a call answers. */
export type Response<K extends keyof RpcSchema> = RpcSchema[K][1];

export type AppState = Response<"app_state">;
export type RunSummary = Response<"runs_list">["runs"][number];
export type RunDetail = Response<"run_detail">;
export type FrameView = RunDetail["frames"][number];
export type ChangeView = RunDetail["changes"][number];
export type ArtefactView = RunDetail["artefacts"][number];
export type WaitingMessage = RunDetail["waitingMessages"][number];
export type ApprovalView = Response<"approvals_list">["approvals"][number];
export type PreflightProblem = Response<"run_preflight">["problems"][number];
export type RunCommand = Request<"run_command">["command"];
export type ModelsList = Response<"models_list">;

let chosen: Backend | undefined;

/** Chooses the back end of the window, once, before anything is drawn. */
export function useBackend(backend: Backend): void {
  chosen = backend;
}

/** The back end of the window. */
export function backend(): Backend {
  if (!chosen) throw new Error("no back end was chosen");
  return chosen;
}

/** Asks the core. */
export function rpc<K extends keyof RpcSchema>(name: K, request: Request<K>): Promise<Response<K>> {
  return backend().call(name, request);
}
