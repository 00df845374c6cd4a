import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type BrowserContext, type Page } from "playwright-core";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = process.env.OPENSPACE_BINARY ?? join(ROOT, "target/debug/openspace");
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The real core behind its real server, with a home of its own. */
export class Served {
  readonly #home = mkdtempSync(join(tmpdir(), "openspace-ui-"));
  #process: ChildProcess | undefined;
  #context: BrowserContext | undefined;
  address = "";
  readonly errors: string[] = [];

  async start(): Promise<this> {
    if (!existsSync(BINARY)) throw new Error(`build the program first: there is no ${BINARY}`);
    const process_ = spawn(BINARY, ["serve", "--json", "--ui", join(ROOT, "ui/dist")], {
      env: {
        PATH: process.env.PATH,
        HOME: this.#home,
        OPENSPACE_HOME: join(this.#home, "data"),
        LANG: "C.UTF-8",
        // There is none; without a name it would find whatever screen the machine has.
        DISPLAY: ":65000",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = process_;
    this.address = await new Promise<string>((resolve, reject) => {
      let text = "";
      process_.stdout.on("data", (part: Buffer) => {
        text += part.toString();
        const found = /http:\/\/[^"\s]+#token=[^"\s]+/.exec(text);
        if (found) resolve(found[0]);
      });
      process_.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
    });
    return this;
  }

  /** A page with a profile of its own. */
  async open(options: { dark?: boolean } = {}): Promise<Page> {
    await this.#context?.close();
    this.#context = await chromium.launchPersistentContext(
      mkdtempSync(join(this.#home, "browser-")),
      {
        executablePath: BROWSER,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
        ],
        viewport: { width: 1280, height: 832 },
        colorScheme: options.dark ? "dark" : "light",
        locale: "en-US",
      },
    );
    const page = this.#context.pages()[0] ?? (await this.#context.newPage());
    page.on("pageerror", (error) => this.errors.push(error.message));
    page.on("console", (message) => {
      // A test that cuts the line makes the browser complain about the line.
      if (message.type() === "error" && !message.text().includes("ERR_INTERNET_DISCONNECTED"))
        this.errors.push(message.text());
    });
    await page.goto(this.address);
    await page.getByText("Connected", { exact: true }).waitFor();
    return page;
  }

  async end(): Promise<void> {
    await this.#context?.close();
    const ended = new Promise((resolve) => this.#process?.once("exit", resolve));
    if (this.#process?.exitCode === null && this.#process.kill("SIGINT")) await ended;
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Asks the core what the page may ask, with its token. */
export function ask<T>(page: Page, name: string, request: object): Promise<T> {
  return page.evaluate(
    async ([name, request]) => {
      const token = sessionStorage.getItem("openspace-token") ?? "";
      const response = await fetch("/rpc", {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify({ name, request }),
      });
      const answer = (await response.json()) as { ok?: unknown; failure?: { message: string } };
      if (answer.failure) throw new Error(answer.failure.message);
      return answer.ok as T;
    },
    [name, request] as const,
  );
}

/** What axe finds, serious or worse. */
export async function violations(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const found = await axe.run();
    return found.violations
      .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
      .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`);
  });
}
