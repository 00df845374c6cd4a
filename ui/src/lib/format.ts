import { speaker } from "./i18n.svelte";

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

function numbers(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `n${speaker.locale}${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(speaker.locale, options);
  formats.set(key, format);
  return format as Intl.NumberFormat;
}

function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `d${speaker.locale}${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(speaker.locale, options);
  formats.set(key, format);
  return format as Intl.DateTimeFormat;
}

/** `1,204` */
export function count(value: number): string {
  return numbers({ maximumFractionDigits: 0 }).format(value);
}

/** `12.4K` from ten thousand on, where the exact number does not matter. */
export function shortCount(value: number): string {
  return value < 10_000
    ? count(value)
    : numbers({ notation: "compact", maximumFractionDigits: 1 }).format(value);
}

/** `$0.04`; four places below a cent. */
export function money(dollars: number): string {
  const places = dollars > 0 && dollars < 0.01 ? 4 : 2;
  return numbers({
    style: "currency",
    currency: "USD",
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  }).format(dollars);
}

/** `62 ms`, `4.6 s`, `1 m 02 s`: how long something took. */
export function took(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) {
    const places = milliseconds < 10_000 ? 1 : 0;
    return `${numbers({ maximumFractionDigits: places, minimumFractionDigits: places }).format(milliseconds / 1_000)} s`;
  }
  const seconds = Math.floor(milliseconds / 1_000);
  const pad = (value: number) => String(value).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${pad(Math.floor((seconds % 3_600) / 60))} m`;
}

/** `02:14` or `1:02:14`: a clock that runs. */
export function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const pad = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3_600);
  const rest = `${pad(Math.floor((seconds % 3_600) / 60))}:${pad(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** `08:41 ago`, and in words from an hour on: `7 days ago` */
export function ago(milliseconds: number): string {
  if (milliseconds < 3_600_000) return speaker.say("ui.approval.age", { age: clock(milliseconds) });
  return agoInWords(milliseconds) ?? "";
}

/** `10:42`, or `9:42 AM` where that is written so */
export function timeOfDay(at: number): string {
  return dates({ timeStyle: "short" }).format(at);
}

/** `10:42:07` */
export function exactTime(at: number): string {
  return dates({ timeStyle: "medium" }).format(at);
}

/** `30 November 2026, 10:42` */
export function dateTime(at: number): string {
  return dates({ dateStyle: "long", timeStyle: "short" }).format(at);
}

/** The day, as a heading: in words for the last two, with the year when it is another one. */
export function day(at: number, now: number): string {
  const start = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((start(now) - start(at)) / 86_400_000);
  if (days === 0 || days === 1) {
    const text = new Intl.RelativeTimeFormat(speaker.locale, { numeric: "auto" }).format(
      -days,
      "day",
    );
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return dates({
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(sameYear ? {} : { year: "numeric" as const }),
  }).format(at);
}

/** `12 kB` */
export function size(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return numbers({
    style: "unit",
    unit: units[unit] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0,
  }).format(value);
}

/** `2 minutes ago`, `7 days ago`: how long ago something was where the second does not matter; null
 * within the last minute. */
export function agoInWords(milliseconds: number): string | null {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return null;
  const words = new Intl.RelativeTimeFormat(speaker.locale, { numeric: "always" });
  if (minutes < 60) return words.format(-minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? words.format(-hours, "hour") : words.format(-Math.floor(hours / 24), "day");
}
