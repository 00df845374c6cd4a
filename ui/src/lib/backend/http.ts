import type { RpcSchema } from "../bindings/RpcSchema";
import {
  CallFailed,
  failureOf,
  type Backend,
  type EventHandlers,
  type Failure,
  type StoredEvent,
} from "./backend";
import { Lru } from "./lru";
import { Parser } from "./sse";

const TOKEN = "openspace-token";
/** Pictures that stay decoded. */
const MOST_FRAMES = 60;
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;
/** The server sends a comment every 15 s, so silence for longer means that the line is dead. */
const SILENCE = 45_000;

const WITH_TOKEN = /^#token=([^&]+)&?(.*)$/;

/** A new address that was opened over this page only changes its hash: the page begins anew with it. */
export function followTokens(page: Window): void {
  page.addEventListener("hashchange", () => {
    if (WITH_TOKEN.test(page.location.hash)) page.location.reload();
  });
}

/** Takes the token out of the address, where it was handed over, and keeps it for this tab. */
export function takeToken(location: Location, storage: Storage, history: History): string {
  const match = WITH_TOKEN.exec(location.hash);
  if (match?.[1]) {
    storage.setItem(TOKEN, decodeURIComponent(match[1]));
    history.replaceState(
      null,
      "",
      location.pathname + location.search + (match[2] ? `#${match[2]}` : ""),
    );
  }
  return storage.getItem(TOKEN) ?? "";
}

/** The core behind `openspace serve`. */
export class HttpBackend implements Backend {
  readonly #frames = new Lru<string>(MOST_FRAMES, (url) => URL.revokeObjectURL(url));
  readonly #loading = new Map<string, Promise<string>>();

  constructor(
    private readonly token: string,
    private readonly base = "",
    private readonly fetcher: typeof fetch = (...request) => fetch(...request),
  ) {}

  async call<K extends keyof RpcSchema>(
    name: K,
    request: RpcSchema[K][0],
  ): Promise<RpcSchema[K][1]> {
    const response = await this.#fetch("/rpc", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name, request }),
    });
    const answer = (await response.json().catch(() => null)) as {
      ok?: RpcSchema[K][1];
      failure?: Failure;
    } | null;
    if (answer?.failure) throw new CallFailed(answer.failure);
    if (answer === null || !("ok" in answer)) throw refused(response.status);
    return answer.ok as RpcSchema[K][1];
  }

  subscribe(after: number, handlers: EventHandlers): () => void {
    const ends = new AbortController();
    void this.#listen(after, handlers, ends.signal);
    return () => ends.abort();
  }

  frame(id: string, width?: number): Promise<string> {
    const key = width ? `${id}?w=${width}` : id;
    const known = this.#frames.get(key);
    if (known) return Promise.resolve(known);
    const loading = this.#loading.get(key);
    if (loading) return loading;
    const load = this.#load(key).finally(() => this.#loading.delete(key));
    this.#loading.set(key, load);
    return load;
  }

  async #load(key: string): Promise<string> {
    const response = await this.#fetch(`/frames/${key}`);
    if (!response.ok) throw refused(response.status);
    const url = URL.createObjectURL(await response.blob());
    this.#frames.set(key, url);
    return url;
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${this.token}`);
    try {
      return await this.fetcher(this.base + path, { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new CallFailed({
        code: "unreachable",
        message: "the core cannot be reached",
        retryable: true,
      });
    }
  }

  async #listen(after: number, handlers: EventHandlers, ends: AbortSignal): Promise<void> {
    let cursor = after;
    let wait = FIRST_WAIT;
    while (!ends.aborted) {
      const silence = new AbortController();
      try {
        // `AbortSignal.any` is younger than the oldest web view that is supported.
        ends.addEventListener("abort", () => silence.abort(), { once: true });
        const headers: HeadersInit = cursor > 0 ? { "Last-Event-ID": String(cursor) } : {};
        const response = await this.#fetch(`/events?after=${cursor}`, {
          headers,
          signal: silence.signal,
        });
        if (!response.ok || !response.body) throw refused(response.status);
        handlers.state("connected");
        wait = FIRST_WAIT;
        for await (const message of messages(response.body, silence)) {
          if (message.event === "reset") {
            handlers.reset();
            continue;
          }
          const event = JSON.parse(message.data) as StoredEvent;
          cursor = Math.max(cursor, event.id);
          handlers.events([event]);
        }
      } catch (error) {
        if (ends.aborted) return;
        if (failureOf(error).code === "expired") {
          // No token is accepted again once it was not.
          handlers.state("expired");
          return;
        }
        console.debug("events:", error);
      }
      if (ends.aborted) return;
      handlers.state("lost");
      await pause(wait, ends);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }
}

async function* messages(body: ReadableStream<Uint8Array>, silence: AbortController) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new Parser();
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
  }
}

function pause(milliseconds: number, ends: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    ends.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function refused(status: number): CallFailed {
  const codes: Record<number, Failure["code"]> = {
    401: "expired",
    403: "forbidden",
    404: "not_found",
    413: "invalid_request",
  };
  return new CallFailed({
    code: codes[status] ?? "internal",
    params: { status: String(status) },
    message: `the core answered with status ${status}`,
    retryable: status >= 500,
  });
}
