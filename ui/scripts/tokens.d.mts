/** The style sheet that the tokens make. */
export function render(tokens: Record<string, Record<string, string>>): string;
