import { beforeAll, expect, it } from "vitest";
import { ago, agoInWords } from "./format";
import { speaker } from "./i18n.svelte";

const HOUR = 3_600_000;

beforeAll(() => speaker.speak("en"));

/** How long ago something was is exact for an hour, then in words. */
it("tells how long ago something was", async () => {
  expect(ago(521_000)).toBe("08:41 ago");
  expect(ago(HOUR)).toBe("1 hour ago");
  expect(ago(47.9 * HOUR)).toBe("47 hours ago");
  expect(ago(168.1 * HOUR)).toBe("7 days ago");
  await speaker.speak("zh-Hans");
  expect(ago(168.1 * HOUR)).toBe("7天前");
  expect(ago(521_000)).toBe("08:41 前");
});

/** Where the second does not matter, words do from the first minute on. */
it("tells roughly how long ago something was", async () => {
  await speaker.speak("en");
  expect(agoInWords(59_999)).toBeNull();
  expect(agoInWords(-5)).toBeNull();
  expect(agoInWords(130_000)).toBe("2 minutes ago");
  expect(agoInWords(1.5 * HOUR)).toBe("1 hour ago");
  expect(agoInWords(49 * HOUR)).toBe("2 days ago");
  await speaker.speak("zh-Hans");
  expect(agoInWords(130_000)).toBe("2分钟前");
});
