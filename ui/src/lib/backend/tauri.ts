import { Channel, convertFileSrc, invoke } from "@tauri-apps/api/core";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { getCurrentWindow } from "@tauri-apps/api/window";
import { open } from "@tauri-apps/plugin-dialog";
import { openPath, revealItemInDir } from "@tauri-apps/plugin-opener";
import type { RpcSchema } from "../bindings/RpcSchema";
import {
  CallFailed,
  type Backend,
  type DropHandlers,
  type EventHandlers,
  type Failure,
  type Native,
  type StoredEvent,
} from "./backend";

/** What comes through the channel of `subscribe`. */
type Told = { events: StoredEvent[] } | { reset: true };

/** The core in the same program, reached over the window's own bridge. */
export class TauriBackend implements Backend {
  readonly native: Native = {
    pickFolder: (start) => open({ directory: true, ...(start ? { defaultPath: start } : {}) }),
    pickFiles: async () => (await open({ multiple: true })) ?? [],
    openPath: (path) => openPath(path),
    revealPath: (path) => revealItemInDir(path),
    setWindowTitle: (title) => getCurrentWindow().setTitle(title),
    restart: async () => void (await this.call("app_restart", {})),
    onDrop: (told) => onDrop(told),
  };

  async call<K extends keyof RpcSchema>(
    name: K,
    request: RpcSchema[K][0],
  ): Promise<RpcSchema[K][1]> {
    try {
      return await invoke<RpcSchema[K][1]>("rpc", { name, request });
    } catch (thrown) {
      throw new CallFailed(asFailure(thrown));
    }
  }

  subscribe(after: number, handlers: EventHandlers): () => void {
    let ended = false;
    const channel = new Channel<Told>();
    channel.onmessage = (told) => {
      if (ended) return;
      if ("reset" in told) handlers.reset();
      else handlers.events(told.events);
    };
    invoke<number>("subscribe", { after, channel }).then(
      (subscription) => {
        if (ended) void invoke("unsubscribe", { subscription });
        else {
          handlers.state("connected");
          end = () => void invoke("unsubscribe", { subscription });
        }
      },
      () => handlers.state("lost"),
    );
    let end: () => void = () => undefined;
    return () => {
      ended = true;
      end();
    };
  }

  frame(id: string, width?: number): Promise<string> {
    // Windows reaches schemes of one's own by http.
    const address = convertFileSrc(id, "openspace-frame");
    return Promise.resolve(width ? `${address}?w=${width}` : address);
  }
}

function onDrop(told: DropHandlers): () => void {
  const listening = getCurrentWebview().onDragDropEvent(({ payload }) => {
    if (payload.type === "drop") told.drop(payload.paths);
    told.over(payload.type === "enter" || payload.type === "over");
  });
  return () => void listening.then((end) => end());
}

function asFailure(thrown: unknown): Failure {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown) {
    return thrown as Failure;
  }
  return { code: "internal", message: String(thrown), retryable: false };
}
