/** What the built pages weigh (gzip, kilobytes of 1000). */
export function sizes(): { first: number; scripts: number; styles: number };
