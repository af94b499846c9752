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

/** A program of others that calls models, as it comes from npm. */
export interface Client {
  /** With its version. */
  readonly npmPackage: string;
  /** Within the folder that it is installed in. */
  readonly program: string;
  /** Writes the settings that a person would. @returns what it is started with, and the environment that it gets */
  readonly setUp: (access: Access, question: string) => { readonly words: readonly string[]; readonly environment: Record<string, string> };
  /** How it reads a file, as its model would have it do. */
  readonly tool: { readonly tool: string; readonly arguments: object };
}

const READ_NOTE = "cat note.txt";

export const CLIENTS: Readonly<Record<string, Client>> = {
  claude: {
    npmPackage: "@anthropic-ai/claude-code@2.1.330",
    program: "node_modules/.bin/claude",
    setUp: ({ url, token, model }, question) => ({
      words: ["-p", question, "--allowedTools", "Bash(cat:*)"],
      environment: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: token,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
    tool: { tool: "Bash", arguments: { command: READ_NOTE, description: "Read the note" } },
  },
  codex: {
    npmPackage: "@openai/codex@0.169.0",
    program: "node_modules/.bin/codex",
    setUp: ({ url, token, model, home }, question) => {
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
      return { words: ["exec", "--skip-git-repo-check", question], environment: { HLVM_TOKEN: token } };
    },
    tool: { tool: "exec_command", arguments: { cmd: READ_NOTE } },
  },
  opencode: {
    npmPackage: "opencode-ai@1.18.33",
    program: "node_modules/.bin/opencode",
    setUp: ({ url, token, model, work }, question) => {
      const options = { baseURL: `${url}/v1`, apiKey: token };
      const hlvm = { npm: "@ai-sdk/openai-compatible", name: "HLVM", options, models: { [model]: { name: model } } };
      writeFileSync(join(work, "opencode.json"), JSON.stringify({ autoupdate: false, provider: { hlvm } }));
      return { words: ["run", "-m", `hlvm/${model}`, question], environment: {} };
    },
    tool: { tool: "bash", arguments: { command: READ_NOTE, description: "Read the note" } },
  },
  pi: {
    npmPackage: "@mariozechner/pi-coding-agent@0.73.1",
    program: "node_modules/.bin/pi",
    setUp: ({ url, token, model, home }, question) => {
      const settings = join(home, ".pi", "agent");
      mkdirSync(settings, { recursive: true });
      const models = [{ id: model, name: model, reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 4_096 }];
      const hlvm = { baseUrl: `${url}/v1`, apiKey: token, api: "openai-completions", models };
      writeFileSync(join(settings, "models.json"), JSON.stringify({ providers: { hlvm } }));
      return { words: ["--provider", "hlvm", "--model", model, "-p", question], environment: {} };
    },
    tool: { tool: "bash", arguments: { command: READ_NOTE } },
  },
};
