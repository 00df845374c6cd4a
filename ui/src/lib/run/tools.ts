/** Families of tools. */
export type BackendName = "gui" | "shell" | "files" | "web" | "mcp" | "person";

const BACKENDS: Record<string, BackendName> = {
  computer: "gui",
  computer_batch: "gui",
  accessibility_tree: "gui",
  click_element: "gui",
  open_program: "gui",
  run_command: "shell",
  command_status: "shell",
  stop_command: "shell",
  read_file: "files",
  write_file: "files",
  edit_file: "files",
  list_dir: "files",
  search: "files",
  read_artefact: "files",
  ask_person: "person",
  give_up: "person",
};

/** The family a tool belongs to, for its icon and colour only. */
export function backendOf(tool: string): BackendName {
  const known = BACKENDS[tool];
  if (known) return known;
  if (tool.includes("__")) return "mcp";
  return tool.startsWith("web_") || tool === "fetch" ? "web" : "shell";
}

/** The actions of a call on the screen, one or a batch. */
export function actionsOf(tool: string, input: Record<string, unknown>): Record<string, unknown>[] {
  if (tool === "computer_batch" && Array.isArray(input.actions)) {
    return input.actions.filter(
      (action): action is Record<string, unknown> => typeof action === "object" && action !== null,
    );
  }
  return tool === "computer" || tool === "click_element" ? [input] : [];
}
