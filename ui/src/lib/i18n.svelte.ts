import type english from "../../messages/en.json";

/** Every sentence there is. */
export type MessageKey = keyof typeof english;
/** Sentences that depend on a number: `key.one` and `key.other`, chosen by `count`. */
export type PluralKey = MessageKey extends infer K
  ? K extends `${infer B}.other`
    ? B
    : never
  : never;
export type Language = "en" | "zh-Hans";
/** `pseudo` is English with accents and more length, to find what was not translated or overflows. */
export type Speech = Language | "pseudo";

type Messages = Record<string, string>;
export type Parameters = Record<string, string | number>;

/** Fills `{name}` with the parameters, exactly as the Rust side does: what is missing shows as `…`. */
export function render(template: string, parameters: Parameters): string {
  let text = "";
  let rest = template;
  for (;;) {
    const open = rest.indexOf("{");
    if (open < 0) return text + rest;
    text += rest.slice(0, open);
    const after = rest.slice(open + 1);
    const close = after.indexOf("}");
    if (close < 0) {
      text += "{";
      rest = after;
      continue;
    }
    const value = parameters[after.slice(0, close)];
    text += value === undefined ? "…" : String(value);
    rest = after.slice(close + 1);
  }
}

/** The language for a locale name such as `zh-CN`; English where we speak no other. */
export function languageOf(locale: string): Language {
  const lower = locale.toLowerCase();
  return lower.startsWith("zh") && !/tw|hk|hant/.test(lower) ? "zh-Hans" : "en";
}

const ACCENTS: Record<string, string> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ó",
  u: "ú",
  A: "Å",
  E: "É",
  I: "Î",
  O: "Ö",
  U: "Ü",
  c: "ç",
  n: "ñ",
};

/** Makes a sentence look foreign and a third longer, its placeholders untouched. */
export function pseudo(text: string): string {
  const accented = text
    .split(/(\{[^}]*\})/)
    .map((part) =>
      part.startsWith("{") ? part : part.replace(/[a-zA-Z]/g, (l) => ACCENTS[l] ?? l),
    )
    .join("");
  return `[${accented}${"~".repeat(Math.ceil(text.length / 3))}]`;
}

type Loader = () => Promise<{ default: Messages }>;

/** What the first page says. */
const FIRST: Record<Language, Loader> = {
  en: () => import("../../messages/en.json"),
  "zh-Hans": () => import("../../messages/zh-Hans.json"),
};
/** What pages and dialogs say that are loaded when they are wanted. */
const LATER: Record<Language, Loader> = {
  en: () => import("../../messages/en.json?later"),
  "zh-Hans": () => import("../../messages/zh-Hans.json?later"),
};

class Speaker {
  speech: Speech = $state("en");
  #messages: Messages = $state.raw({});
  #wanted: Speech = "en";
  /** All sentences are wanted, not only those of the first page. */
  #all = false;
  /** And they are there. */
  #whole = false;

  /** The language for dates, numbers and `lang`. */
  get locale(): Language {
    return this.speech === "pseudo" ? "en" : this.speech;
  }

  speak(speech: Speech): Promise<void> {
    this.#wanted = speech;
    return this.#load();
  }

  /** Learns what the first page does not say. */
  learn(): Promise<void> {
    this.#all = true;
    return this.#whole ? Promise.resolve() : this.#load();
  }

  async #load(): Promise<void> {
    const speech = this.#wanted;
    const all = this.#all;
    const language = speech === "pseudo" ? "en" : speech;
    const [first, later] = await Promise.all([FIRST[language](), all ? LATER[language]() : null]);
    // Something else was asked for meanwhile, and that counts.
    if (speech !== this.#wanted || all !== this.#all) return this.#load();
    const messages = { ...first.default, ...later?.default };
    this.#messages =
      speech === "pseudo"
        ? Object.fromEntries(Object.entries(messages).map(([key, text]) => [key, pseudo(text)]))
        : messages;
    this.#whole = all;
    this.speech = speech;
    if (typeof document !== "undefined") document.documentElement.lang = this.locale;
  }

  /** Whether there is a sentence, in one form or in one for each number. */
  has(key: string): boolean {
    return key in this.#messages || `${key}.other` in this.#messages;
  }

  /** A sentence; its key where there is none, so that nothing is hidden. */
  say(key: string, parameters: Parameters = {}): string {
    const count = parameters.count;
    let template = this.#messages[key];
    if (template === undefined && count !== undefined) {
      const one = this.locale === "en" && Number(count) === 1;
      template = this.#messages[`${key}.${one ? "one" : "other"}`];
    }
    return template === undefined ? key : render(template, parameters);
  }
}

export const speaker = new Speaker();

/** A page or a dialog that is loaded when it is wanted, together with what it says. */
export async function spoken<T>(piece: Promise<T>): Promise<T> {
  const [loaded] = await Promise.all([piece, speaker.learn()]);
  return loaded;
}

/** A sentence in the language of the window. */
export function t(key: MessageKey | PluralKey, parameters?: Parameters): string {
  return speaker.say(key, parameters);
}

/** A sentence that the core chose: its key and its values. */
export function say(sentence: { key: string; params: Parameters }): string {
  return speaker.say(sentence.key, sentence.params);
}
