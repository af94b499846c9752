import { plainName } from "./argument-names.ts";

/** What small models call tools that they know from elsewhere. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  shell_exec: ["bash", "shell", "run_command", "execute_command", "run_shell_command", "exec", "terminal", "run_terminal_cmd"],
  read_file: ["cat", "open_file", "view_file", "view", "read", "get_file"],
  list_files: ["ls", "list_dir", "list_directory", "list", "glob"],
  search_code: ["grep", "search", "search_files", "grep_search", "ripgrep"],
  write_file: ["write", "create_file", "write_to_file", "save_file"],
  edit_file: ["edit", "str_replace", "replace_in_file", "apply_edit", "replace"],
};

/** Which of the offered tools a name means; never one that is not offered. */
export class ToolNames {
  readonly #byName = new Map<string, string>();

  constructor(offered: Iterable<string>) {
    const names = [...offered];
    for (const name of names) for (const alias of ALIASES[name] ?? []) this.#byName.set(plainName(alias), name);
    // A tool's own name comes before what others are called.
    for (const name of names) this.#byName.set(plainName(name), name);
  }

  find(given: unknown): string | undefined {
    if (typeof given !== "string" || given.length > 128) return undefined;
    const name = given
      .trim()
      .replace(/^functions?[.:/]/, "")
      .replace(/:\d+$/, "");
    return this.#byName.get(plainName(name));
  }
}
