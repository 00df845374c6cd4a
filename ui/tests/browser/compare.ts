import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { encode } from "./png";

const BASELINES = fileURLToPath(new URL("looks/", import.meta.url));
/** Where to look when something differs. */
const DIFFERENT = join(tmpdir(), "openspace-looks");
/** The part of the pixels that may differ. */
const TOLERATED = 0.001;

/** A picture, pixel by pixel. */
export const read = (file: Buffer): PNG => PNG.sync.read(file);

/** How a picture differs from the one that was agreed on; nothing when it does not. */
export function difference(name: string, taken: Buffer): string | null {
  const file = join(BASELINES, `${name}.png`);
  const now = read(taken);
  if (process.env.RENEW_LOOKS) {
    mkdirSync(BASELINES, { recursive: true });
    writeFileSync(file, encode(now));
    return null;
  }
  if (!existsSync(file)) return `there is no ${file}: npm run looks`;
  const then = read(readFileSync(file));
  const { width, height } = then;
  if (now.width !== width || now.height !== height) {
    return `${now.width}x${now.height} is not ${width}x${height}`;
  }
  const marks = new PNG({ width, height });
  const count = pixelmatch(now.data, then.data, marks.data, width, height, { threshold: 0.1 });
  if (count <= TOLERATED * width * height) return null;
  mkdirSync(DIFFERENT, { recursive: true });
  writeFileSync(join(DIFFERENT, `${name}.png`), taken);
  writeFileSync(join(DIFFERENT, `${name}-different.png`), PNG.sync.write(marks));
  return `${count} pixels differ: see ${DIFFERENT}, and \`npm run looks\` if that is how it shall look`;
}

/** Whether a colour, `#9A3412`, is anywhere in a picture. */
export function contains(taken: Buffer, colour: string): boolean {
  const wanted = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const { data } = read(taken);
  for (let at = 0; at < data.length; at += 4) {
    if (wanted.every((value, channel) => data[at + channel] === value)) return true;
  }
  return false;
}
