export const OTHERS: readonly string[];
export const LATER: readonly string[];
export function groupOf(key: string): string;
