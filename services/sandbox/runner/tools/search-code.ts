import { readLines } from "../read-lines.ts";
import { RIPGREP } from "../ripgrep.ts";
import { ToolFailure, type ToolAnswer, type ToolContext } from "../tool.ts";
import { realWorkspacePath, WORKSPACE } from "../workspace-path.ts";

const DEFAULT_RESULTS = 100;
const SHOWN_LINE_CHARACTERS = 400;
/** The most that one search shows, whatever number of results was asked for. */
const SHOWN_BYTES = 200_000;

export interface SearchCodeArguments {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly literal?: boolean;
  readonly ignore_case?: boolean;
  readonly maximum_results?: number;
}

export async function searchCode(given: SearchCodeArguments, { signal }: ToolContext): Promise<ToolAnswer> {
  const place = await realWorkspacePath(given.path ?? ".");
  const limit = given.maximum_results ?? DEFAULT_RESULTS;
  const found: string[] = [];
  const files = new Set<string>();
  let bytes = 0;
  const end = await readLines({
    command: RIPGREP,
    arguments: [
      "--no-config",
      "--no-heading",
      "--with-filename",
      "--line-number",
      "--null",
      "--color=never",
      "--sort=path",
      "--hidden",
      "--no-require-git",
      "--glob=!.git",
      "--max-filesize=1M",
      "--max-columns=4000",
      "--max-columns-preview",
      ...(given.literal === true ? ["--fixed-strings"] : []),
      ...(given.ignore_case === true ? ["--ignore-case"] : []),
      ...(given.glob === undefined ? [] : [`--glob=${given.glob}`]),
      `--regexp=${given.pattern}`,
      "--",
      place.absolute.slice(WORKSPACE.length + 1) || "./",
    ],
    directory: WORKSPACE,
    signal,
    onLine: (line) => {
      const [path = "", rest = ""] = line.split("\0", 2);
      const name = path.replace(/^\.\//, "");
      const entry = `${name}:${rest.replace(":", ": ")}`.slice(0, SHOWN_LINE_CHARACTERS);
      bytes += Buffer.byteLength(entry) + 1;
      if (found.length >= limit || bytes > SHOWN_BYTES) return false;
      files.add(name);
      found.push(entry);
      return true;
    },
  });
  if (end.exitCode === 2 && found.length === 0)
    throw new ToolFailure("invalid_arguments", `The search failed: ${end.complaint}\nSet literal to true to search for plain text.`);

  if (found.length === 0) return { content: `No match for ${given.pattern} (files over 1 MB are not searched).`, summary: "no match" };
  const note = end.wasCut ? [`[There are more than these ${found.length}; narrow the pattern, the path or the glob]`] : [];
  const count = `${found.length}${end.wasCut ? "+" : ""} ${found.length === 1 ? "match" : "matches"}`;
  return {
    content: [...found, ...note].join("\n"),
    summary: `${count} in ${files.size} ${files.size === 1 ? "file" : "files"}`,
    truncated: end.wasCut,
  };
}
