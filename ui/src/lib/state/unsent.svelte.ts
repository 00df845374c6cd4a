/** What was written to each run and not sent yet, by its id: it stays while other pages are looked at. */
export const unsent: Record<string, string> = $state({});
