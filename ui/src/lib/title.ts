import { backend } from "./api";

/** Both sides of the name in every title of ours: runs never click windows that carry it. */
export const MARKER = "\u2060OpenSpace\u2060";

/** Names the window after its page. */
export function setTitle(page: string): void {
  const title = page ? `${page} · ${MARKER}` : MARKER;
  if (document.title === title) return;
  document.title = title;
  void backend()
    .native?.setWindowTitle?.(title)
    .catch(() => undefined);
}
