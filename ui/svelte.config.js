import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    runes: true,
    // Long enough to tell some hundred components apart; every letter more is sent once for each of them.
    cssHash: ({ hash, css }) => `s${hash(css).slice(0, 5)}`,
  },
};
