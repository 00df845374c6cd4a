/** One message of a stream of server-sent events. */
export interface Message {
  event: string;
  id: string;
  data: string;
}

/** Takes a stream of server-sent events apart, however it is cut. */
export class Parser {
  #rest = "";
  #event = "";
  #id = "";
  #data: string[] = [];

  /** The messages that `text` completes. */
  push(text: string): Message[] {
    const messages: Message[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0 || this.#event !== "") {
          messages.push({
            event: this.#event || "message",
            id: this.#id,
            data: this.#data.join("\n"),
          });
        }
        this.#event = "";
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") this.#event = value;
      else if (name === "id") this.#id = value;
      else if (name === "data") this.#data.push(value);
    }
    return messages;
  }
}
