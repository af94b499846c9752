import { join } from "node:path";
import { aiderTurns } from "./aider-turns.ts";
import { claudeCodeTurns } from "./claude-code-turns.ts";
import { codexTurns } from "./codex-turns.ts";
import { cursorTurns } from "./cursor-turns.ts";
import { hermesTurns } from "./hermes-turns.ts";
import { opencodeTurns } from "./opencode-turns.ts";
import { piTurns } from "./pi-turns.ts";
import type { TurnReader } from "./read-turn.ts";
import { windsurfTurns } from "./windsurf-turns.ts";

/** Where a person's things are, and what moves the folders of tools elsewhere. */
export interface Home {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly variable: (name: string) => string;
}

export interface TranscriptTool {
  readonly name: string;
  /** Where its transcripts are unless somebody says otherwise; aider's are wherever it was used. */
  readonly folders: (home: Home) => readonly string[];
  /** Of the files below the folder, by their path within it, with `/`. */
  readonly files: RegExp;
  readonly read: TurnReader;
  /** What a person has to do for it to write any. */
  readonly needs?: string;
}

/** VS Code's forks keep their data there. */
function userData({ home, platform, variable }: Home, product: string): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", product);
  return platform === "win32" ? join(variable("APPDATA"), product) : join(variable("XDG_CONFIG_HOME") || join(home, ".config"), product);
}

/** Every tool whose sessions can be imported, or of which that is often asked. */
export const TRANSCRIPT_TOOLS: readonly TranscriptTool[] = [
  {
    name: "claude-code",
    folders: ({ home, variable }) => [join(variable("CLAUDE_CONFIG_DIR") || join(home, ".claude"), "projects")],
    files: /\.jsonl$/,
    read: claudeCodeTurns,
  },
  {
    name: "codex",
    folders: ({ home, variable }) => {
      const base = variable("CODEX_HOME") || join(home, ".codex");
      return [join(base, "sessions"), join(base, "archived_sessions")];
    },
    files: /(?:^|\/)rollout-[^/]*\.jsonl(?:\.zst)?$/,
    read: codexTurns,
  },
  {
    name: "cursor",
    folders: (home) => [join(userData(home, "Cursor"), "User", "globalStorage"), join(home.home, ".cursor", "projects")],
    files: /^state\.vscdb$|\/agent-transcripts\/(?:[^/]+\/)?[^/]+\.jsonl$/,
    read: cursorTurns,
  },
  { name: "aider", folders: () => [], files: /(?:^|\/)\.aider\.chat\.history\.md$/, read: aiderTurns },
  {
    name: "opencode",
    folders: ({ home, variable }) => [join(variable("XDG_DATA_HOME") || join(home, ".local", "share"), "opencode")],
    files: /^opencode(?:-[\w.-]+)?\.db$/,
    read: opencodeTurns,
  },
  {
    name: "hermes",
    folders: ({ home, variable }) => [variable("HERMES_HOME") || join(home, ".hermes")],
    files: /^(?:profiles\/[^/]+\/)?state\.db$/,
    read: hermesTurns,
  },
  {
    name: "pi",
    folders: ({ home, variable }) => [
      variable("PI_CODING_AGENT_SESSION_DIR") || join(variable("PI_CODING_AGENT_DIR") || join(home, ".pi", "agent"), "sessions"),
    ],
    files: /\.jsonl$/,
    read: piTurns,
  },
  {
    name: "windsurf",
    folders: ({ home }) => [join(home, ".windsurf", "transcripts")],
    files: /\.jsonl$/,
    read: windsurfTurns,
    needs:
      "Windsurf encrypts its own files. It writes transcripts where the hook post_cascade_response_with_transcript is in " +
      '~/.codeium/windsurf/hooks.json: {"hooks": {"post_cascade_response_with_transcript": [{"command": "true"}]}}',
  },
];
