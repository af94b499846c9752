import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a client calls models with. */
export interface Access {
  /** Of the edge, without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly model: string;
  /** The client's home, and where it works: both its own. */
  readonly home: string;
  readonly work: string;
}

export interface SetUp {
  /** What it is started with to answer a question. */
  readonly ask: (question: string) => readonly string[];
  /** The same, in the conversation that it had last. */
  readonly goOn: (question: string) => readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A program of others that calls models, as it comes from npm. */
export interface Client {
  /** With its version. */
  readonly npmPackage: string;
  /** Within the folder that it is installed in. */
  readonly program: string;
  /** Writes the settings that a person would. */
  readonly setUp: (access: Access) => SetUp;
  /** How it reads a file, as its model would have it do. */
  readonly tool: { readonly tool: string; readonly arguments: object };
  /** What HLVM calls it. */
  readonly source: string;
  /** Where its hooks stand, in its home, and what a person has there before HLVM comes. Undefined: it has none that HLVM knows. */
  readonly hooks?: { readonly settings: string; readonly before: string };
}

const READ_NOTE = "cat note.txt";
/** A hook of the person's own, by which to see that it still runs. */
export const OWN_HOOK_RAN = "own-hook-ran";
const OWN_HOOK = `{ "hooks":[{"type":"command" , "command":"echo ran >> \\"$HOME/${OWN_HOOK_RAN}\\"", "timeout": 10}] }`;

export const CLIENTS: Readonly<Record<string, Client>> = {
  claude: {
    npmPackage: "@anthropic-ai/claude-code@2.1.330",
    program: "node_modules/.bin/claude",
    setUp: ({ url, token, model }) => ({
      ask: (question) => ["-p", question, "--allowedTools", "Bash(cat:*)"],
      goOn: (question) => ["--continue", "-p", question, "--allowedTools", "Bash(cat:*)"],
      environment: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: token,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
    tool: { tool: "Bash", arguments: { command: READ_NOTE, description: "Read the note" } },
    source: "claude-code",
    // As odd as Claude Code takes it: comments and commas at ends it does not.
    hooks: {
      settings: ".claude/settings.json",
      before: `\uFEFF{\r\n\t"permissions": {"allow":["Bash(cat:*)", "Bash(l\\u0073:*)"],\r\n\t\t"deny": [ ] },\r\n\t"model":"no/model", "cleanupPeriodDays": 3e1,\r\n\t"hooks": { "UserPromptSubmit":[${OWN_HOOK}],\r\n\t\t\t"Stop":[]}\r\n}  `,
    },
  },
  codex: {
    npmPackage: "@openai/codex@0.169.0",
    program: "node_modules/.bin/codex",
    setUp: ({ url, token, model, home }) => {
      mkdirSync(join(home, ".codex"), { recursive: true });
      const provider = [
        "[model_providers.hlvm]",
        'name = "HLVM"',
        `base_url = "${url}/v1"`,
        'env_key = "HLVM_TOKEN"',
        'wire_api = "responses"',
      ];
      const settings = [`model = "${model}"`, 'model_provider = "hlvm"', 'web_search = "disabled"', ...provider];
      writeFileSync(join(home, ".codex", "config.toml"), `${settings.join("\n")}\n`);
      // People trust hooks in codex's own window.
      const words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"];
      return {
        ask: (question) => [...words, question],
        goOn: (question) => [...words, "resume", "--last", question],
        environment: { HLVM_TOKEN: token },
      };
    },
    tool: { tool: "exec_command", arguments: { cmd: READ_NOTE } },
    source: "codex",
    hooks: { settings: ".codex/hooks.json", before: `{"hooks":\n      {"UserPromptSubmit":[${OWN_HOOK}]}}` },
  },
  opencode: {
    npmPackage: "opencode-ai@1.18.33",
    program: "node_modules/.bin/opencode",
    setUp: ({ url, token, model, work }) => {
      const options = { baseURL: `${url}/v1`, apiKey: token };
      const hlvm = { npm: "@ai-sdk/openai-compatible", name: "HLVM", options, models: { [model]: { name: model } } };
      writeFileSync(join(work, "opencode.json"), JSON.stringify({ autoupdate: false, provider: { hlvm } }));
      const words = ["run", "-m", `hlvm/${model}`];
      return { ask: (question) => [...words, question], goOn: (question) => [...words, "--continue", question], environment: {} };
    },
    tool: { tool: "bash", arguments: { command: READ_NOTE, description: "Read the note" } },
    source: "opencode",
  },
  pi: {
    npmPackage: "@mariozechner/pi-coding-agent@0.73.1",
    program: "node_modules/.bin/pi",
    setUp: ({ url, token, model, home }) => {
      const settings = join(home, ".pi", "agent");
      mkdirSync(settings, { recursive: true });
      const models = [{ id: model, name: model, reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 4_096 }];
      const hlvm = { baseUrl: `${url}/v1`, apiKey: token, api: "openai-completions", models };
      writeFileSync(join(settings, "models.json"), JSON.stringify({ providers: { hlvm } }));
      const words = ["--provider", "hlvm", "--model", model];
      return {
        ask: (question) => [...words, "-p", question],
        goOn: (question) => [...words, "--continue", "-p", question],
        environment: {},
      };
    },
    tool: { tool: "bash", arguments: { command: READ_NOTE } },
    source: "pi",
  },
};
