/**
 * Where an element lies in the window, in the pixels that pointers tell and the window is measured in.
 * Under a zoom of the page Chromium says so; WebKit says it in lengths of the page.
 */
export function seen(element: Element): DOMRect {
  const { x, y, width, height } = element.getBoundingClientRect();
  const page = document.documentElement.getBoundingClientRect().width;
  const scale = page > 0 ? innerWidth / page : 1;
  return new DOMRect(x * scale, y * scale, width * scale, height * scale);
}
