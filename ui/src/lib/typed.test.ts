import { describe, expect, it } from "vitest";
import { completed, tokenAt } from "./typed";

/** What is typed where `|` stands. */
const at = (text: string) => tokenAt(text.replace("|", ""), text.indexOf("|"));

describe("what is being typed", () => {
  /** A stroke begins a line, and a second one makes it a path. */
  it.each([
    ["/|", { kind: "/", start: 0, words: "" }],
    ["/model op|", { kind: "/", start: 0, words: "model op" }],
    ["First line\n/fo|lder", { kind: "/", start: 11, words: "fo" }],
    ["/home/|ana", null],
    ["Read /etc|", null],
    ["a / b|", null],
  ])("%s", (text, token) => expect(at(text)).toEqual(token));

  /** An at sign begins a word; in an address it does not. */
  it.each([
    ["@|", { kind: "@", start: 0, words: "" }],
    ["Sum up @notes/ju|", { kind: "@", start: 7, words: "notes/ju" }],
    ["看（@表|", { kind: "@", start: 2, words: "表" }],
    ["ana@example.org|", null],
    ["@a b|", null],
  ])("%s", (text, token) => expect(at(text)).toEqual(token));

  /** What stood around it stays, and the caret stands behind what came in. */
  it("is replaced", () => {
    const text = "Sum up @ju and more";
    const token = tokenAt(text, 10);
    expect(token && completed(text, token, "june.csv")).toEqual({
      text: "Sum up june.csv and more",
      caret: 15,
    });
  });
});
