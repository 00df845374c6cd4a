import axe from "axe-core";

/** What axe finds in what is rendered. Colours are checked from the tokens: there is no layout here. */
export async function violations(element: Element = document.body): Promise<string[]> {
  const found = await axe.run(element, {
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  return found.violations.map(
    (violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(" ")}`,
  );
}
