import type { Backend } from "./backend";
import { followTokens, HttpBackend, takeToken } from "./http";

/** The back end for the place this page runs in. */
export async function chooseBackend(): Promise<Backend> {
  if ("__TAURI_INTERNALS__" in window) {
    const { TauriBackend } = await import("./tauri");
    return new TauriBackend();
  }
  followTokens(window);
  return new HttpBackend(takeToken(location, sessionStorage, history));
}
