/** Groups of sentences that no page says: tray, pill, notifications, command line, MCP server. */
export const OTHERS = ["doctor", "hud", "mcp", "notify", "practice", "quick", "serve", "tray"];
