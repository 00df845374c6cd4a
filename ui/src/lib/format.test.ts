import { beforeAll, expect, it } from "vitest";
import { ago } from "./format";
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
