/** The part of the sentences that the first page does not say; `vite.config.ts` parts them. */
declare module "*.json?later" {
  const sentences: Record<string, string>;
  export default sentences;
}
