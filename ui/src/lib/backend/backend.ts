import type { Failure as CoreFailure } from "../bindings/Failure";
import type { RpcSchema } from "../bindings/RpcSchema";
import type { StoredEvent } from "../bindings/StoredEvent";

export type { StoredEvent };

/** What went wrong: what the core says, that it cannot be reached, or that it does not know this page
 * any more. Worded by `code`. */
export type Failure = Omit<CoreFailure, "code"> & {
  code: CoreFailure["code"] | "unreachable" | "expired";
};

/** A failure as it is thrown by [Backend.call]. */
export class CallFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = "CallFailed";
  }
}

/** The failure in whatever was thrown. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof CallFailed) return thrown.failure;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "internal", message, retryable: false };
}

/** What a subscriber hears. */
export interface EventHandlers {
  /** Events in the order of their ids. */
  events(batch: StoredEvent[]): void;
  /** `lost` while the core cannot be reached, `expired` once it does not know this page any more. */
  state(state: "connected" | "lost" | "expired"): void;
  /** Events may be missing: ask for snapshots again. */
  reset(): void;
}

/** What only a desktop window can do; absent in a browser. */
export interface Native {
  pickFolder(start?: string): Promise<string | null>;
  pickFiles(): Promise<string[]>;
  openPath(path: string): Promise<void>;
  revealPath(path: string): Promise<void>;
  setWindowTitle(title: string): Promise<void>;
  /** Starts the app anew; where runs go on, the person is asked first. */
  restart(): Promise<void>;
  /** Tells of files that are dragged over the window and dropped, until the returned function is called. */
  onDrop(told: DropHandlers): () => void;
}

/** What is told of dragged files. */
export interface DropHandlers {
  over(now: boolean): void;
  drop(paths: string[]): void;
}

/** The one way to the core. */
export interface Backend {
  call<K extends keyof RpcSchema>(name: K, request: RpcSchema[K][0]): Promise<RpcSchema[K][1]>;
  /** Events after a cursor, until the returned function is called. */
  subscribe(after: number, handlers: EventHandlers): () => void;
  /** An address that an `img` can show, at most `width` pixels wide. Never base64. */
  frame(id: string, width?: number): Promise<string>;
  /** None in a browser. */
  readonly native?: Partial<Native>;
}
