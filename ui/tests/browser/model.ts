import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model says next: words, or a call of a tool. */
export type Turn = string | { tool: string; arguments: object };

/** A command, without a network unless one is wanted. */
export const shell = (command: string, network = false): Turn => ({
  tool: "run_command",
  arguments: { command, network },
});

/** An action on the screen. */
export const computer = (action: string, more: object = {}): Turn => ({
  tool: "computer",
  arguments: { action, ...more },
});

/** A model that says what a test wrote, over the protocol of Chat Completions, on loopback. */
export class Model {
  readonly #server: Server;
  #turns: Turn[] = [];
  /** What it was told, request by request. */
  readonly heard: string[] = [];

  constructor() {
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (part: Buffer) => (body += part.toString()));
      request.on("end", () => {
        if (!request.url?.endsWith("/chat/completions") || request.method !== "POST") {
          response.writeHead(404).end();
          return;
        }
        this.heard.push(body);
        // A request without tools only asks for a sign of life.
        const turn = body.includes('"tools"') ? (this.#turns.shift() ?? "Done.") : "Hi.";
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        for (const chunk of chunks(turn)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        response.end("data: [DONE]\n\n");
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  will(...turns: Turn[]): void {
    this.#turns = turns;
  }

  end(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function chunks(turn: Turn): object[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "test",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "test",
    choices: [],
    usage: { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
  };
  if (typeof turn === "string") {
    return [chunk({ role: "assistant", content: turn }), chunk({}, "stop"), usage];
  }
  const call = {
    index: 0,
    id: `call_${Math.random().toString(36).slice(2)}`,
    type: "function",
    function: { name: turn.tool, arguments: JSON.stringify(turn.arguments) },
  };
  return [
    chunk({ role: "assistant", content: null, tool_calls: [call] }),
    chunk({}, "tool_calls"),
    usage,
  ];
}
