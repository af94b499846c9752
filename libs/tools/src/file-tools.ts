import { defineTool } from "./define-tool.ts";

const path = {
  type: "string",
  description: "Path relative to the workspace, for example src/main.ts.",
  minLength: 1,
  maxLength: 4096,
} as const;
const MAXIMUM_FILE_CHARACTERS = 2 * 1024 * 1024;

export const fileTools = [
  defineTool({
    name: "read_file",
    description:
      "Read a text file with line numbers. A long file without a range comes as its beginning and an outline (headings or declarations with their line numbers); then ask for the range you need.",
    arguments: {
      path,
      start_line: { type: "integer", description: "First line wanted, from 1.", minimum: 1, optional: true },
      end_line: { type: "integer", description: "Last line wanted.", minimum: 1, optional: true },
    },
    category: "read",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "cat, head, tail",
  }),
  defineTool({
    name: "list_files",
    description: "List files and folders below a folder, respecting .gitignore; folders end in a slash.",
    arguments: {
      path: { ...path, description: "Folder relative to the workspace; left out, the workspace itself.", optional: true },
      depth: { type: "integer", description: "How many levels down; left out, 2.", minimum: 1, maximum: 20, optional: true },
      pattern: {
        type: "string",
        description: "Only paths that match this glob, for example **/*.ts.",
        minLength: 1,
        maxLength: 500,
        optional: true,
      },
    },
    category: "read",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "ls, find, tree",
  }),
  defineTool({
    name: "file_stats",
    description: "Size, kind, line count, mode and time of change of a file or folder.",
    arguments: { path },
    category: "read",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "stat, wc, file",
  }),
  defineTool({
    name: "write_file",
    description: "Write a whole file, made or replaced in one step; missing folders are made.",
    arguments: { path, content: { type: "string", description: "The whole new content.", maxLength: MAXIMUM_FILE_CHARACTERS } },
    category: "write",
    safetyLevel: "L1",
    sideEffects: "mutating",
    executor: "sandbox",
    replaces: "echo >, cat <<EOF",
  }),
  defineTool({
    name: "edit_file",
    description:
      "Replace an exact piece of text in a file. The piece must occur exactly once unless replace_all is true. Returns the diff.",
    arguments: {
      path,
      old_text: {
        type: "string",
        description: "The text to replace, exactly as it stands in the file, indentation included.",
        minLength: 1,
        maxLength: MAXIMUM_FILE_CHARACTERS,
      },
      new_text: { type: "string", description: "What takes its place.", maxLength: MAXIMUM_FILE_CHARACTERS },
      replace_all: { type: "boolean", description: "Replace every occurrence; left out, false.", optional: true },
    },
    category: "write",
    safetyLevel: "L1",
    sideEffects: "mutating",
    executor: "sandbox",
    replaces: "sed -i",
  }),
];
