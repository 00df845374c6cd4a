export const OTHERS: readonly string[];
