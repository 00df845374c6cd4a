import { describe, expect, it, vi } from "vitest";
import { CallFailed } from "./backend";
import { HttpBackend, takeToken } from "./http";
import { Lru } from "./lru";
import { Parser } from "./sse";

class Storage {
  readonly values = new Map<string, string>();
  getItem = (key: string) => this.values.get(key) ?? null;
  setItem = (key: string, value: string) => void this.values.set(key, value);
}

const address = (hash: string) => ({ hash, pathname: "/", search: "" }) as Location;

describe("the token", () => {
  /** It is taken out of the address, kept for the tab, and the rest of the address stays. */
  it("is taken once", () => {
    const storage = new Storage() as unknown as globalThis.Storage;
    const replaceState = vi.fn();
    const history = { replaceState } as unknown as History;
    expect(takeToken(address("#token=s%2Fx&/runs/a"), storage, history)).toBe("s/x");
    expect(replaceState).toHaveBeenCalledWith(null, "", "/#/runs/a");
    replaceState.mockClear();
    expect(takeToken(address("#/tasks"), storage, history)).toBe("s/x");
    expect(replaceState).not.toHaveBeenCalled();
  });
});

describe("calls", () => {
  /** The name and the request go in the body, the token in the header. */
  it("are posted", async () => {
    const fetcher = vi.fn<typeof fetch>(() =>
      Promise.resolve(Response.json({ ok: { runs: ["a"] } })),
    );
    const answer = await new HttpBackend("t", "", fetcher).call("runs_stop_all", {});
    expect(answer).toEqual({ runs: ["a"] });
    const [path, init] = fetcher.mock.calls[0] ?? [];
    expect(path).toBe("/rpc");
    expect(init?.body).toBe('{"name":"runs_stop_all","request":{}}');
    expect(new Headers(init?.headers).get("authorization")).toBe("Bearer t");
  });

  /** A failure of the core is thrown as it is. */
  it("throw what the core says", async () => {
    const failure = { code: "not_found", message: "there is no run", retryable: false };
    const fetcher = () => Promise.resolve(Response.json({ failure }, { status: 404 }));
    const call = new HttpBackend("t", "", fetcher).call("run_stop", { run: "x" });
    await expect(call).rejects.toEqual(new CallFailed(failure as CallFailed["failure"]));
  });

  /** A refused token and a core that is away each have their own code. */
  it.each([
    [() => Promise.resolve(new Response("no", { status: 401 })), "expired"],
    [() => Promise.resolve(new Response("no", { status: 403 })), "forbidden"],
    [() => Promise.reject(new TypeError("network")), "unreachable"],
  ])("know why nothing came: %#", async (fetcher, code) => {
    const call = new HttpBackend("t", "", fetcher as typeof fetch).call("runs_stop_all", {});
    await expect(call).rejects.toMatchObject({ failure: { code } });
  });
});

function stream(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const line = (id: number) =>
  `id: ${id}\ndata: {"id":${id},"topic":"run","key":"a","seq":${id},"at":1,"kind":"k","v":1,"payload":{}}\n\n`;

describe("events", () => {
  /** After a cut the stream goes on behind the last event that came. */
  it("go on where they were cut", async () => {
    const asked: string[] = [];
    const answers = [stream(line(4) + line(5)), stream(`event: reset\ndata: {}\n\n${line(9)}`)];
    const heard: (number | string)[] = [];
    await new Promise<void>((done) => {
      const fetcher: typeof fetch = (path) => {
        asked.push(String(path));
        const answer = answers.shift();
        return answer ? Promise.resolve(answer) : new Promise(() => undefined);
      };
      const stop = new HttpBackend("t", "", fetcher).subscribe(3, {
        events: (batch) => {
          heard.push(...batch.map((event) => event.id));
          if (heard.includes(9)) {
            stop();
            done();
          }
        },
        state: (state) => heard.push(state),
        reset: () => heard.push("reset"),
      });
    });
    expect(asked).toEqual(["/events?after=3", "/events?after=5"]);
    expect(heard).toEqual(["connected", 4, 5, "lost", "connected", "reset", 9]);
  });

  /** A token that is refused is not tried again. */
  it("end with the token", async () => {
    const fetcher = vi.fn<typeof fetch>(() => Promise.resolve(new Response("", { status: 401 })));
    const heard = await new Promise<string>((done) =>
      new HttpBackend("t", "", fetcher).subscribe(0, {
        events: () => undefined,
        state: done,
        reset: () => undefined,
      }),
    );
    expect(heard).toBe("expired");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(fetcher).toHaveBeenCalledTimes(1);
  });

  /** Messages are the same however the bytes are cut, comments and line ends included. */
  it("survive any cut", () => {
    const text = ": hello\r\n\r\nid: 7\r\nevent: x\r\ndata: a\r\ndata: b\r\n\r\ndata:c\n\n";
    const whole = new Parser().push(text);
    expect(whole).toEqual([
      { event: "x", id: "7", data: "a\nb" },
      { event: "message", id: "7", data: "c" },
    ]);
    for (let cut = 1; cut < text.length; cut += 1) {
      const parser = new Parser();
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(whole);
    }
  });
});

describe("pictures", () => {
  /** The newest stay, and what falls out is let go. */
  it("are kept within bounds", () => {
    const gone: string[] = [];
    const lru = new Lru<string>(2, (value) => gone.push(value));
    lru.set("a", "A");
    lru.set("b", "B");
    lru.get("a");
    lru.set("c", "C");
    expect(gone).toEqual(["B"]);
    expect(lru.get("a")).toBe("A");
    expect(lru.size).toBe(2);
  });

  /** The same picture is fetched once, with its width and the token. */
  it("are fetched once", async () => {
    const fetcher = vi.fn<typeof fetch>(() => Promise.resolve(new Response("jpeg")));
    const backend = new HttpBackend("t", "", fetcher);
    const [one, other] = await Promise.all([backend.frame("f", 320), backend.frame("f", 320)]);
    expect(one).toBe(other);
    expect(one).toMatch(/^blob:/);
    expect(await backend.frame("f", 320)).toBe(one);
    expect(fetcher.mock.calls.map(([path]) => path)).toEqual(["/frames/f?w=320"]);
  });
});
