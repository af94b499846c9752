import { defineTool } from "./define-tool.ts";

const path = {
  type: "string",
  description: "Only below this path, relative to the workspace.",
  minLength: 1,
  maxLength: 4096,
  optional: true,
} as const;

export const commandTools = [
  defineTool({
    name: "search_code",
    description: "Search file contents with a regular expression (ripgrep), respecting .gitignore. Answers path:line: text.",
    arguments: {
      pattern: { type: "string", description: "Regular expression, or plain text with literal true.", minLength: 1, maxLength: 1000 },
      path,
      glob: { type: "string", description: "Only files that match, for example *.ts.", minLength: 1, maxLength: 500, optional: true },
      literal: { type: "boolean", description: "Take the pattern as plain text; left out, false.", optional: true },
      ignore_case: { type: "boolean", description: "Left out, false.", optional: true },
      maximum_results: { type: "integer", description: "Left out, 100.", minimum: 1, maximum: 5000, optional: true },
    },
    category: "search",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "grep, rg",
  }),
  defineTool({
    name: "shell_exec",
    description: "Run a shell command in the workspace, without network. Returns what it printed and its exit code.",
    arguments: {
      command: { type: "string", description: "The command line, given to /bin/sh -c.", minLength: 1, maxLength: 32_768 },
      working_directory: {
        type: "string",
        description: "Folder relative to the workspace; left out, the workspace itself.",
        minLength: 1,
        maxLength: 4096,
        optional: true,
      },
      timeout_seconds: { type: "integer", description: "Left out, 60.", minimum: 1, maximum: 60, optional: true },
    },
    category: "shell",
    safetyLevel: "L2",
    sideEffects: "destructive",
    executor: "sandbox",
  }),
  defineTool({
    name: "git_status",
    description: "The branch, and the files that are changed, staged or untracked.",
    arguments: {},
    category: "git",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "git status",
  }),
  defineTool({
    name: "git_diff",
    description: "The changes of the working tree as a unified diff.",
    arguments: {
      staged: { type: "boolean", description: "What is staged, instead of what is not; left out, false.", optional: true },
      reference: { type: "string", description: "Compare with this commit or branch.", minLength: 1, maxLength: 200, optional: true },
      path,
    },
    category: "git",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "git diff",
  }),
  defineTool({
    name: "git_log",
    description: "The latest commits: hash, date, author, subject.",
    arguments: {
      limit: { type: "integer", description: "Left out, 20.", minimum: 1, maximum: 200, optional: true },
      path,
    },
    category: "git",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "sandbox",
    replaces: "git log",
  }),
];
