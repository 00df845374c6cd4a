/** A value of the settings: what the core writes as TOML on one line. */
export type Value = string | number | boolean | Value[] | null;

/** Reads a value as the core writes it; the text itself where it is of another shape, such as a table. */
export function read(text: string | null): Value {
  if (text === null) return null;
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (/^[+-]?[\d_]+(\.[\d_]+)?([eE][+-]?\d+)?$/.test(trimmed)) {
    return Number(trimmed.replaceAll("_", ""));
  }
  if (trimmed.startsWith("'") && trimmed.endsWith("'")) return trimmed.slice(1, -1);
  if (trimmed.startsWith('"')) return basic(trimmed);
  if (trimmed.startsWith("[") && trimmed.endsWith("]")) {
    return items(trimmed.slice(1, -1)).map(read);
  }
  return trimmed;
}

/** Writes a list as TOML. */
export function writeList(list: readonly string[]): string {
  return `[${list.map((item) => JSON.stringify(item)).join(", ")}]`;
}

function basic(text: string): string {
  const inner = text.slice(1, -1);
  return inner.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs, (_, escape: string) => {
    const known: Record<string, string> = {
      n: "\n",
      t: "\t",
      r: "\r",
      b: "\b",
      f: "\f",
      e: "\x1b",
    };
    if (escape.length > 1) return String.fromCodePoint(Number.parseInt(escape.slice(1), 16));
    return known[escape] ?? escape;
  });
}

/** The items of a list, cut at the commas that are outside of strings and lists. */
function items(text: string): string[] {
  const found: string[] = [];
  let item = "";
  let quote = "";
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? "";
    if (quote) {
      if (letter === "\\" && quote === '"') {
        item += letter + (text[++at] ?? "");
        continue;
      }
      if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "[" || letter === "{") depth += 1;
    else if (letter === "]" || letter === "}") depth -= 1;
    else if (letter === "," && depth === 0) {
      found.push(item);
      item = "";
      continue;
    }
    item += letter;
  }
  if (item.trim()) found.push(item);
  return found;
}
