import type { Request, Response } from "../src/lib/api";
import {
  CallFailed,
  type Backend,
  type EventHandlers,
  type Failure,
  type Native,
} from "../src/lib/backend/backend";
import type { RpcSchema } from "../src/lib/bindings/RpcSchema";
import type { StoredEvent } from "../src/lib/bindings/StoredEvent";

type Name = keyof RpcSchema;
type Answers = { [K in Name]?: (request: Request<K>) => Response<K> };

/** A core that answers what a test says and remembers what it was asked. */
export class FakeBackend implements Backend {
  readonly asked: { name: Name; request: unknown }[] = [];
  /** What only a window of the app can do; a test gives it. */
  native?: Partial<Native>;
  #handlers: EventHandlers | undefined;

  constructor(readonly answers: Answers = {}) {}

  call<K extends Name>(name: K, request: Request<K>): Promise<Response<K>> {
    this.asked.push({ name, request: structuredClone(request) });
    const answer = this.answers[name];
    if (!answer) return Promise.reject(new CallFailed(failure(`${name} is not answered here`)));
    try {
      return Promise.resolve(answer(request));
    } catch (thrown) {
      return Promise.reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  subscribe(_after: number, handlers: EventHandlers): () => void {
    this.#handlers = handlers;
    handlers.state("connected");
    return () => (this.#handlers = undefined);
  }

  frame(id: string, width?: number): Promise<string> {
    return Promise.resolve(`blob:${id}/${width ?? "whole"}`);
  }

  /** Somebody listens. */
  get heard(): boolean {
    return this.#handlers !== undefined;
  }

  /** Tells the window something. */
  tell(...events: StoredEvent[]): void {
    this.#handlers?.events(events);
  }

  lose(): void {
    this.#handlers?.state("lost");
  }

  /** Contact is there again after it was lost. */
  regain(): void {
    this.#handlers?.state("connected");
  }

  expire(): void {
    this.#handlers?.state("expired");
  }

  /** What a call was asked, newest last. */
  requests<K extends Name>(name: K): Request<K>[] {
    return this.asked
      .filter((call) => call.name === name)
      .map((call) => call.request as Request<K>);
  }
}

export function failure(message: string, code: Failure["code"] = "internal"): Failure {
  return { code, message, retryable: false };
}
