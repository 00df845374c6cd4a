import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { ended, said } from "../children";
import { Model } from "./model";
import { endApart } from "./processes";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = process.env.OPENSPACE_BINARY ?? join(ROOT, "target/debug/openspace");
const BENCH = process.env.OPENSPACE_BENCH ?? join(ROOT, "target/debug/openspace-bench");
const PAGES = process.env.OPENSPACE_PAGES ?? join(ROOT, "ui/dist");
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** The same letters on every machine. */
const FONTS = fileURLToPath(new URL("fonts.conf", import.meta.url));

export interface Look {
  dark?: boolean;
  width?: number;
  height?: number;
  zoom?: number;
  /** The time that the page believes it is, for ever, Unix milliseconds. */
  now?: number;
}

/** Shows another page of the window. */
export async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#${hash}`);
  await page.locator("main h1").first().waitFor();
}

/** The real core with a home and a model of its own, whose server can be started again. */
export class Core {
  readonly home = mkdtempSync(join(tmpdir(), "openspace-ui-"));
  readonly model = new Model();
  readonly errors: string[] = [];
  address = "";
  #server: ChildProcess | undefined;
  #seed: ChildProcess | undefined;
  #browser: Browser | undefined;
  readonly #runs = new Set<ChildProcess>();

  /** Variables on top of the plain ones: settings that a test wants locked. */
  constructor(private readonly variables: Record<string, string> = {}) {}

  get #folders(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      OPENSPACE_HOME: join(this.home, "data"),
      XDG_RUNTIME_DIR: this.home,
      // There is none; without a name it would find whatever screen the machine has.
      DISPLAY: ":65000",
      LANG: "C.UTF-8",
    };
  }

  get #environment(): Record<string, string> {
    return {
      ...this.#folders,
      OPENSPACE_LLM_API_KEY: "sk-test-1234567890",
      OPENSPACE_LLM_API_BASE: this.model.address,
      ...this.variables,
    };
  }

  async start(): Promise<this> {
    await this.#prepare();
    this.#browser = await chromium.launch({
      executablePath: BROWSER,
      // Letters are drawn the same way, whatever the machine prefers.
      args: ["--no-sandbox", "--disable-gpu", "--disable-lcd-text", "--font-render-hinting=none"],
      env: { ...process.env, FONTCONFIG_FILE: FONTS },
    });
    await this.serve();
    return this;
  }

  /** The core alone, for another browser. */
  async startWithoutBrowser(pages = PAGES): Promise<this> {
    await this.#prepare();
    await this.serve(pages);
    return this;
  }

  async #prepare(): Promise<void> {
    if (!existsSync(BINARY)) throw new Error(`build the program first: there is no ${BINARY}`);
    mkdirSync(join(this.home, "work"), { recursive: true });
    await this.model.start();
  }

  /** Fills the home with a scene of `openspace-bench seed`, before the start; answers what it noted. */
  async seed(...scene: string[]): Promise<string> {
    const seed = spawn(BENCH, ["seed", ...scene], {
      env: this.#folders,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#seed = seed;
    const [, note = ""] = await said(seed, /ready (.*)\n/);
    return note;
  }

  /** Starts the server, at a free port or at one that it had before. */
  async serve(pages = PAGES, port = "0"): Promise<void> {
    const server = spawn(BINARY, ["serve", "--json", "--ui", pages, "--port", port], {
      env: this.#environment,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#server = server;
    [this.address] = await said(server, /http:\/\/[^"\s]+#token=[^"\s]+/);
  }

  /** Kills the server as a crash would. */
  async crash(): Promise<void> {
    await ended(this.#server, "SIGKILL");
  }

  /** A task in a process of its own, as in a terminal that waits for approvals. */
  task(text: string): ChildProcess {
    const run = spawn(
      BINARY,
      [
        "run",
        text,
        "--model",
        "openai/test",
        "--backends",
        "shell",
        "--workspace",
        join(this.home, "work"),
        "--wait-approval",
        "10m",
        "--json",
      ],
      { env: this.#environment, stdio: "ignore" },
    );
    this.#runs.add(run);
    run.once("exit", () => this.#runs.delete(run));
    return run;
  }

  /** A host that starts the server as its entry says, shakes hands, and goes again. */
  async connect(entry: string, name: string): Promise<void> {
    const server = spawn(BINARY, ["mcp"], {
      env: { ...this.#environment, OPENSPACE_HOST_ID: entry },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#runs.add(server);
    server.once("exit", () => this.#runs.delete(server));
    const gone = new Promise((resolve) => server.once("exit", resolve));
    const answered = said(server, /"serverInfo"/);
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name, version: "1.2.3" },
    };
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ];
    server.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await answered;
    server.stdin.end();
    await gone;
  }

  /** A task from beginning to end. */
  async finished(text: string): Promise<void> {
    const run = this.task(text);
    await new Promise((resolve) => run.once("exit", resolve));
  }

  /** A window with a profile of its own. */
  async open(hash = "/tasks", look: Look = {}): Promise<Page> {
    const context = await this.#context(look);
    const page = await context.newPage();
    if (look.now !== undefined) await page.clock.setFixedTime(look.now);
    page.on("pageerror", (error) => this.errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("ERR_")) {
        this.errors.push(message.text());
      }
    });
    await page.goto(`${this.address}&${hash}`);
    await page.locator("footer").waitFor();
    return page;
  }

  async #context(look: Look): Promise<BrowserContext> {
    if (!this.#browser) throw new Error("not started");
    const context = await this.#browser.newContext({
      viewport: { width: look.width ?? 1280, height: look.height ?? 832 },
      colorScheme: look.dark ? "dark" : "light",
      reducedMotion: "reduce",
      locale: "en-US",
      timezoneId: "UTC",
    });
    context.setDefaultTimeout(15_000);
    if (look.zoom) {
      await context.addInitScript(
        (zoom) => localStorage.setItem("openspace-look", JSON.stringify({ zoom })),
        look.zoom,
      );
    }
    return context;
  }

  /** Asks the core what a page may ask. */
  async ask<T>(name: string, request: object = {}): Promise<T> {
    const [base = "", token = ""] = this.address.split("#token=");
    const response = await fetch(`${base}rpc`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify({ name, request }),
    });
    const answer = (await response.json()) as { ok?: T; failure?: { message: string } };
    if (answer.failure) throw new Error(answer.failure.message);
    return answer.ok as T;
  }

  /** Queues a run as the page does, which nobody asks about; its id. */
  async begin(task: string, more: object = {}): Promise<string> {
    const { run } = await this.ask<{ run: string }>("run_start", {
      task,
      workspace: join(this.home, "work"),
      backends: ["shell"],
      preset: "hands-off",
      allow: [],
      attachments: [],
      ...more,
    });
    return run;
  }

  /** Waits until a run has come to an end. */
  async ended(run: string): Promise<void> {
    for (let round = 0; round < 300; round += 1) {
      const detail = await this.ask<{ run: { going: boolean } }>("run_detail", { run });
      if (!detail.run.going) return;
      await wait(50);
    }
    throw new Error(`${run} does not end`);
  }

  /** The id of the newest run whose task begins like this, once there is one. */
  async newest(text: string): Promise<string> {
    for (let round = 0; round < 300; round += 1) {
      const { runs } = await this.ask<{ runs: { id: string; text: string }[] }>("runs_list");
      const found = runs.find((run) => run.text.startsWith(text));
      if (found) return found.id;
      await wait(50);
    }
    throw new Error(`there is no run ${text}`);
  }

  /** The id of the question that waits, once there is one. */
  async question(): Promise<string> {
    for (let round = 0; round < 300; round += 1) {
      const { approvals } = await this.ask<{ approvals: { id: string }[] }>("approvals_list");
      if (approvals[0]) return approvals[0].id;
      await wait(50);
    }
    throw new Error("nothing is asked");
  }

  /** The first steps are done with: pages open where they are asked for. */
  async past(): Promise<void> {
    const value = { step: "safety", done: [], over: true, demo: null };
    await this.ask("ui_state_set", { key: "welcome", value });
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    for (const run of this.#runs) await ended(run, "SIGKILL");
    await ended(this.#server, "SIGINT");
    await ended(this.#seed, "SIGINT");
    await endApart(this.home);
    await this.model.end();
    rmSync(this.home, { recursive: true, force: true });
  }
}
