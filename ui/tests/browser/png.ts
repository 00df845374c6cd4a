import { crc32, deflateSync } from "node:zlib";
import type { PNG } from "pngjs";

/** Most colours of a picture with a palette. */
const MOST = 256;

/** The most frequent of them are those of the page itself, which stay as they are. */
const EXACT = 160;
/** How near to another colour one may be without a place of its own, squared; grows until all fit. */
const NEAR = 12;

/** A picture in few bytes: its colours, or the nearest of 256. */
export function encode({ width, height, data }: Pick<PNG, "width" | "height" | "data">): Buffer {
  const colour = (at: number) => data.readUIntBE(at, 3);
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += 4) {
    counts.set(colour(at), (counts.get(colour(at)) ?? 0) + 1);
  }
  const byCount = [...counts].sort((one, other) => other[1] - one[1]).map(([value]) => value);
  const palette = choose(byCount);
  const indices = new Map(byCount.map((value) => [value, nearest(palette, value)]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      lines[y * (width + 1) + 1 + x] = indices.get(colour((y * width + x) * 4)) ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.alloc(palette.length * 3);
  palette.forEach((value, index) => colours.writeUIntBE(value, index * 3, 3));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The most frequent colours, and rare ones that none of these stands for. */
function choose(byCount: readonly number[]): number[] {
  if (byCount.length <= MOST) return [...byCount];
  for (let near = NEAR; ; near *= 2) {
    const chosen = byCount.slice(0, EXACT);
    for (const value of byCount.slice(EXACT)) {
      if (chosen.every((other) => distance(value, other) > near)) chosen.push(value);
      if (chosen.length > MOST) break;
    }
    if (chosen.length <= MOST) return chosen;
  }
}

function distance(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 0xff) - ((other >> 8) & 0xff);
  const blue = (one & 0xff) - (other & 0xff);
  return red * red + green * green + blue * blue;
}

function nearest(palette: readonly number[], value: number): number {
  let best = 0;
  let least = Infinity;
  for (const [index, other] of palette.entries()) {
    const apart = distance(value, other);
    if (apart < least) [best, least] = [index, apart];
  }
  return best;
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
