/** A piece of a text: as it is, or the code of a character that cannot be seen. */
export type ExactPart = { text: string } | { code: string };

// Controls other than tab and line end, marks that turn or hide text, and letters without a shape.
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u3164\uFFA0]/u;

/** A text cut so that what nobody could see in it can be drawn. */
export function exactParts(text: string): ExactPart[] {
  const parts: ExactPart[] = [];
  let seen = "";
  for (const character of text) {
    if (!UNSEEN.test(character)) {
      seen += character;
      continue;
    }
    if (seen) parts.push({ text: seen });
    seen = "";
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push({ code: `U+${code}` });
  }
  if (seen) parts.push({ text: seen });
  return parts;
}
