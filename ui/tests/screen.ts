import { spawn, type ChildProcess } from "node:child_process";
import { ended, said } from "./children";

/** A screen that nobody sees. */
export class Screen {
  #server: ChildProcess | undefined;

  /** Its name, such as `:17`. */
  async start(): Promise<string> {
    const words = ["-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"];
    this.#server = spawn("Xvfb", words, { stdio: ["ignore", "pipe", "ignore"] });
    const [, number] = await said(this.#server, /(\d+)\n/);
    return `:${number}`;
  }

  end(): Promise<void> {
    return ended(this.#server, "SIGTERM");
  }
}
