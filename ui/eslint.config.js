import svelte from "eslint-plugin-svelte";
import globals from "globals";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["dist/", "src/lib/bindings/"] },
  ...typescript.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: typescript.parser } },
    rules: {
      // Our router is hash-based and has no base path to resolve.
      "svelte/no-navigation-without-resolve": "off",
      "svelte/no-at-html-tags": "error",
    },
  },
  {
    rules: {
      "@typescript-eslint/no-unused-vars": [
        "error",
        { varsIgnorePattern: "^_", argsIgnorePattern: "^_" },
      ],
      // Maps and sets here live within one function; state that views follow is in runes.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
  {
    files: ["src/**/*"],
    ignores: ["src/lib/backend/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group: ["@tauri-apps/*"], message: "Only lib/backend/tauri.ts may." }] },
      ],
    },
  },
);
