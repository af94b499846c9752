import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { runProgram } from "../e2e/run-program.ts";

const PI = "@mariozechner/pi-coding-agent@0.73.1";

/** Runs one question through pi, a peer that neither isolates nor decides nor records durably; installed beside the project on first use. */
export async function askPi(modelUrl: string, question: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hlvm-pi-"));
  try {
    const settings = join(home, ".pi", "agent");
    mkdirSync(settings, { recursive: true });
    const models = [{ id: "fake", name: "fake", reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 4_096 }];
    const provider = { baseUrl: modelUrl, apiKey: "none", api: "openai-completions", models };
    writeFileSync(join(settings, "models.json"), JSON.stringify({ providers: { fake: provider } }));
    const ended = await runProgram(process.execPath, [piProgram(), "--provider", "fake", "--model", "fake", "-p", question], {
      cwd: home,
      environment: { PATH: process.env.PATH!, HOME: home },
    });
    if (ended.code !== 0) throw new Error(`pi ended with ${ended.code}: ${ended.stderr}`);
  } finally {
    rmSync(home, { recursive: true });
  }
}

function piProgram(): string {
  const folder = join(repositoryRoot, ".cache", "peers", "pi");
  const packageFolder = join(folder, "node_modules", "@mariozechner", "pi-coding-agent");
  if (!existsSync(packageFolder)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    execFileSync("npm", ["install", "--no-save", "--prefix", folder, PI], { stdio: ["ignore", "ignore", "inherit"] });
  }
  return join(packageFolder, "dist", "cli.js");
}
