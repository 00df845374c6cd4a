/** Something that is being typed and can be completed. */
export interface Token {
  /** `/` asks for what the field itself can do, `@` for a file. */
  kind: "/" | "@";
  /** Where its sign stands. */
  start: number;
  /** What follows the sign, up to the caret. */
  words: string;
}

/** What is being typed at the caret. A sign begins something only where no word goes on. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  // At the beginning of a line, and no path: those have another stroke sooner or later.
  const command = /(?:^|\n)\/([^\n/]{0,40})$/.exec(before)?.[1];
  if (command !== undefined) {
    return { kind: "/", start: caret - command.length - 1, words: command };
  }
  const file = /(?:^|[\s("'“‘（《])@([^\s@]{0,200})$/u.exec(before)?.[1];
  if (file !== undefined) return { kind: "@", start: caret - file.length - 1, words: file };
  return null;
}

/** The text with what was typed replaced, and where the caret is then. */
export function completed(text: string, token: Token, by: string): { text: string; caret: number } {
  const after = text.slice(token.start + 1 + token.words.length);
  const head = text.slice(0, token.start) + by;
  return { text: head + after, caret: head.length };
}
