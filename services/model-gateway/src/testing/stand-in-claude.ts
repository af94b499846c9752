import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { json } from "node:stream/consumers";
import { readFixture } from "../adapters/suite/replay-server.ts";

/** What the program was started with, as it tells before it answers. */
export interface StartedClaude {
  readonly pid: number;
  /** Of a program that it has started itself. */
  readonly child: number;
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly system: string;
  readonly folder: string;
  readonly files: readonly string[];
  /** What it was told. */
  readonly lines: readonly { readonly type: string; readonly shouldQuery?: boolean }[];
}

export interface Played {
  /** What it writes once it is asked. */
  readonly lines: readonly string[];
  /** What it complains of. */
  readonly complaint?: string;
  /** Undefined: it stays until it is ended. */
  readonly exitCode?: number;
}

const PROGRAM = `#!${process.execPath}
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
const { lines, complaint, exitCode, port } = JSON.parse(readFileSync(new URL("./played.json", import.meta.url), "utf8"));
const words = process.argv.slice(2);
const told = [];
for await (const line of createInterface({ input: process.stdin })) {
  told.push(JSON.parse(line));
  if (told.at(-1).type !== "user") continue;
  if (told.at(-1).shouldQuery === false) {
    process.stdout.write('{"type":"result","is_error":false,"num_turns":0}\\n');
    continue;
  }
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  const system = readFileSync(words[words.indexOf("--system-prompt-file") + 1], "utf8");
  const about = { pid: process.pid, child: child.pid, words, environment: process.env, system, folder: process.cwd(), files: readdirSync("."), lines: told };
  await new Promise((resolve) => connect(port, "127.0.0.1").end(JSON.stringify(about), resolve).on("error", resolve));
  process.stderr.write(complaint ?? "");
  for (const each of lines) await new Promise((resolve) => process.stdout.write(each + "\\n", resolve));
  if (exitCode !== undefined) process.exit(exitCode);
}
`;

/** A program in the place of claude: plays what the real one wrote, or what it does not write when it is asked to. */
export class StandInClaude {
  readonly #folder = mkdtempSync(join(tmpdir(), "hlvm-stand-in-"));
  readonly #server = createServer((socket) => void json(socket).then((about) => this.#told.resolve(about as StartedClaude)));
  #told = Promise.withResolvers<StartedClaude>();

  get path(): string {
    return join(this.#folder, "claude");
  }

  /** How it was started last. */
  get started(): Promise<StartedClaude> {
    return this.#told.promise;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    writeFileSync(join(this.#folder, "package.json"), '{"type":"module"}');
    writeFileSync(this.path, PROGRAM, { mode: 0o755 });
  }

  play(played: Played): void {
    this.#told = Promise.withResolvers();
    const { port } = this.#server.address() as AddressInfo;
    writeFileSync(join(this.#folder, "played.json"), JSON.stringify({ ...played, port }));
  }

  stop(): void {
    this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** What claude 2.1.330 wrote when Anthropic's API said what the suite's fixture of the same name has. */
export function recordedClaude(name: "text" | "thinking" | "refusal"): string[] {
  return readFixture("claude-code", name);
}

/** The real one, where `npm run model-clients` has installed it. */
export function installedClaude(): string | undefined {
  const clients = fileURLToPath(new URL("../../../../.cache/clients", import.meta.url));
  const [folder] = globSync("@anthropic-ai+claude-code@*", { cwd: clients });
  const path = join(clients, folder ?? "", "node_modules", ".bin", "claude");
  return folder !== undefined && existsSync(path) ? path : undefined;
}
