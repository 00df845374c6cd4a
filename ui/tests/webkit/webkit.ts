import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ended } from "../children";
import { Screen } from "../screen";

/** The window that is left for the page is smaller by the bar of the browser. */
const SIZE = { width: 1280, height: 832 };
/** Longest wait for a process or a page. */
const SOON = 20_000;

/** A browser with the engine of Linux's web views, on a screen of its own, by the W3C's WebDriver. */
export class WebKit {
  readonly #home = mkdtempSync(join(tmpdir(), "openspace-webkit-"));
  readonly #screen = new Screen();
  #driver: ChildProcess | undefined;
  #session = "";

  async start(): Promise<this> {
    const display = await this.#screen.start();
    const port = await freePort();
    this.#driver = spawn("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], {
      env: {
        PATH: process.env.PATH,
        HOME: this.#home,
        XDG_RUNTIME_DIR: this.#home,
        DISPLAY: display,
        LANG: "C.UTF-8",
        TZ: "UTC",
        // As the app sets it, see ui.md 4.6.
        WEBKIT_DISABLE_DMABUF_RENDERER: "1",
        NO_AT_BRIDGE: "1",
      },
      stdio: "ignore",
    });
    const driver = `http://127.0.0.1:${port}/session`;
    const options = { binary: miniBrowser(), args: ["--automation"] };
    const wanted = { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } };
    const begun = await soon(() => send<{ sessionId: string }>("POST", driver, wanted));
    this.#session = `${driver}/${begun.sessionId}`;
    await this.#fit();
    return this;
  }

  /** Gives the page the size of the app's window. */
  async #fit(): Promise<void> {
    const inside = async () =>
      this.run<typeof SIZE>("return { width: innerWidth, height: innerHeight }");
    const outside = await send<typeof SIZE>("POST", `${this.#session}/window/rect`, SIZE);
    const { width, height } = await inside();
    await send("POST", `${this.#session}/window/rect`, {
      width: outside.width + SIZE.width - width,
      height: outside.height + SIZE.height - height,
    });
    await soon(async () => {
      const now = await inside();
      if (now.width !== SIZE.width || now.height !== SIZE.height) throw new Error("wrong size");
    });
  }

  open(address: string): Promise<unknown> {
    return send("POST", `${this.#session}/url`, { url: address });
  }

  /** What a function body returns in the page. */
  run<T>(script: string, ...args: unknown[]): Promise<T> {
    return send("POST", `${this.#session}/execute/sync`, { script, args });
  }

  /** What a function body hands to its last argument. */
  settled<T>(script: string, ...args: unknown[]): Promise<T> {
    return send("POST", `${this.#session}/execute/async`, { script, args });
  }

  /** Waits until a function body returns something that is not null, false or empty. */
  until<T>(script: string, ...args: unknown[]): Promise<T> {
    return soon(async () => {
      const value = await this.run<T>(script, ...args);
      if (!value) throw new Error(`never: ${script} ${args.join(" ")}`);
      return value;
    });
  }

  async end(): Promise<void> {
    if (this.#session) await send("DELETE", this.#session).catch(() => undefined);
    await ended(this.#driver, "SIGTERM");
    await this.#screen.end();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** The browser that comes with the engine. */
function miniBrowser(): string {
  for (const folder of readdirSync("/usr/lib")) {
    for (const version of ["webkit2gtk-4.1", "webkitgtk-6.0"]) {
      const file = join("/usr/lib", folder, version, "MiniBrowser");
      if (existsSync(file)) return file;
    }
  }
  throw new Error("there is no MiniBrowser: install webkit2gtk-driver");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function send<T>(method: string, address: string, body?: object): Promise<T> {
  const response = await fetch(address, {
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const { value } = (await response.json()) as { value: T & { error?: string; message?: string } };
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

/** Tries again until it succeeds. */
async function soon<T>(attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + SOON;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await wait(50);
    }
  }
}
