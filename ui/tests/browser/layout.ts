/** What lies beside the page: its surplus width, and controls that are cut off. Run in the page. */
export function beside(): string[] {
  const main = document.querySelector("main");
  if (!main) return ["no page"];
  const edge = main.getBoundingClientRect().right + 1;
  const cut = [...main.querySelectorAll("button, a, input, select, textarea")].filter(
    (control) =>
      !control.closest("[role=region][tabindex]") && control.getBoundingClientRect().right > edge,
  );
  return [
    ...(main.scrollWidth > main.clientWidth + 1 ? [`${main.scrollWidth}`] : []),
    ...cut.map((control) => control.outerHTML.slice(0, 120)),
  ];
}
