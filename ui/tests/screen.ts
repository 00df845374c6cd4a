import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { ended, said } from "./children";

/** A screen that nobody sees. */
export class Screen {
  #server: ChildProcess | undefined;
  #name = "";

  /** Its name, such as `:17`. With a file of keys only who has one of them may use it. */
  async start(keys?: string): Promise<string> {
    const words = ["-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"];
    if (keys) words.push("-auth", keys);
    for (let attempt = 1; ; attempt += 1) {
      // Not the lowest: programs that are told of no screen look for `:0`.
      this.#name = `:${randomInt(100, 1_000)}`;
      this.#server = spawn("Xvfb", [this.#name, ...words], { stdio: ["ignore", "pipe", "ignore"] });
      try {
        await said(this.#server, /\d+\n/);
        return this.#name;
      } catch (error) {
        // Somebody else has that one.
        if (attempt === 10) throw error;
      }
    }
  }

  /** Makes all of it another colour. */
  async cover(colour: string): Promise<void> {
    const xsetroot = spawn("xsetroot", ["-display", this.#name, "-solid", colour]);
    await new Promise((resolve) => xsetroot.once("exit", resolve));
  }

  end(): Promise<void> {
    return ended(this.#server, "SIGTERM");
  }
}

/** A file of one new key, for any host and any display: its form is in Xau(3). */
export function key(): Buffer {
  const field = (data: Buffer) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(data.length);
    return Buffer.concat([length, data]);
  };
  const fields = [Buffer.alloc(0), Buffer.alloc(0), Buffer.from("MIT-MAGIC-COOKIE-1")];
  return Buffer.concat([Buffer.from([0xff, 0xff]), ...[...fields, randomBytes(16)].map(field)]);
}
