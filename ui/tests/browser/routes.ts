/** Pages that need no run to look at. */
export const ROUTES = [
  "/tasks",
  "/approvals",
  "/insights",
  "/hosts",
  "/hosts/codex",
  "/diagnostics",
  "/settings/general",
  "/settings/models",
  "/settings/permissions",
  "/settings/safety",
  "/settings/hotkeys",
  "/settings/agents",
  "/settings/appearance",
  "/settings/privacy",
  "/settings/about",
  "/welcome/welcome",
  "/welcome/demo",
  "/welcome/model",
  "/welcome/permissions",
  "/welcome/agents",
  "/welcome/safety",
];

/** Themes and languages that every page has to bear. */
export const LOOKS = [
  ["light", "en"],
  ["light", "zh-Hans"],
  ["dark", "en"],
  ["dark", "zh-Hans"],
] as const;
