import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Exchange } from "../exchange.ts";
import { fieldsOf, type Fields } from "../fields-of.ts";
import { endedEarly, malformed, notInstalled } from "./claude-failure.ts";

const LINE_FEED = 0x0a;
/** Of what it complains of, its end. */
const KEPT_ERROR_CHARACTERS = 1_000;

export interface ClaudeSettings {
  /** Of the program, absolute. */
  readonly path: string;
  /** Of `claude setup-token`. */
  readonly token: string;
  /** Where Anthropic's API is; left out: where the program thinks. */
  readonly baseUrl?: string;
  /** What it may know of this machine: PATH, proxies. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What one call is started with. */
export interface ClaudeStart {
  readonly words: readonly string[];
  readonly system: string;
  readonly outputTokens: number;
}

/**
 * One run of the program in a process group, a home and a folder of its own, which all end with it. Lines that it writes are JSON, and
 * are bounded by the exchange.
 */
export class ClaudeProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #folder: string;
  readonly #exchange: Exchange;
  readonly #exited: Promise<void>;
  readonly #lines: AsyncGenerator<Fields, void>;
  readonly #secret: string;
  #complaint = "";
  #spawnError: Error | undefined;

  private constructor(child: ChildProcessWithoutNullStreams, folder: string, exchange: Exchange, secret: string) {
    this.#child = child;
    this.#folder = folder;
    this.#exchange = exchange;
    this.#secret = secret;
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", (error) => {
        this.#spawnError = error;
        if (child.pid === undefined) resolve();
      });
    });
    // What is written to a program that has ended is said by how it ended.
    child.stdin.on("error", () => undefined);
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      this.#complaint = (this.#complaint + piece).slice(-KEPT_ERROR_CHARACTERS);
    });
    exchange.signal.addEventListener("abort", this.#kill, { once: true });
    if (exchange.signal.aborted) this.#kill();
    this.#lines = this.#read();
  }

  static async start(settings: ClaudeSettings, start: ClaudeStart, exchange: Exchange): Promise<ClaudeProcess> {
    const folder = await mkdtemp(join(tmpdir(), "hlvm-claude-"));
    try {
      const [home, work, temporary] = ["home", "work", "tmp"].map((name) => join(folder, name));
      await Promise.all([home, work, temporary].map((path) => mkdir(path!, { mode: 0o700 })));
      const systemFile = join(folder, "system.txt");
      await writeFile(systemFile, start.system, { mode: 0o600 });
      const child = spawn(settings.path, [...start.words, "--system-prompt-file", systemFile], {
        cwd: work,
        // A group of its own: whatever it starts ends with it.
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
        env: {
          ...settings.environment,
          HOME: home,
          CLAUDE_CONFIG_DIR: join(home!, ".claude"),
          TMPDIR: temporary,
          CLAUDE_CODE_TMPDIR: temporary,
          CLAUDE_CODE_OAUTH_TOKEN: settings.token,
          ...(settings.baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: settings.baseUrl }),
          CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(start.outputTokens),
          // Whether a call is tried again is decided here, before anything of it was seen.
          CLAUDE_CODE_MAX_RETRIES: "0",
          CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          DISABLE_TELEMETRY: "1",
        },
      });
      return new ClaudeProcess(child, folder, exchange, settings.token);
    } catch (thrown) {
      await rm(folder, { recursive: true, force: true });
      throw notInstalled(thrown);
    }
  }

  write(line: object): void {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  /** The next line. @throws ModelError where there is none, since the program has ended, or where it is no JSON */
  async next(): Promise<Fields> {
    const { value } = await this.#lines.next();
    if (value !== undefined) return value;
    await this.#exited;
    this.#exchange.throwIfEnded();
    if (this.#spawnError !== undefined) throw notInstalled(this.#spawnError);
    throw endedEarly(this.#child.exitCode ?? this.#child.signalCode, this.#said());
  }

  /** Nothing of it is left then: no process, no folder. */
  async end(): Promise<void> {
    this.#exchange.signal.removeEventListener("abort", this.#kill);
    this.#kill();
    await this.#exited;
    // A process that left the group may hold the other end.
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async *#read(): AsyncGenerator<Fields, void> {
    let pieces: Buffer[] = [];
    for await (const piece of this.#child.stdout as AsyncIterable<Buffer>) {
      this.#exchange.heard(piece);
      let begin = 0;
      for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, begin)) {
        const line = Buffer.concat([...pieces, piece.subarray(begin, end)]).toString("utf8");
        pieces = [];
        begin = end + 1;
        if (line.trim() !== "") yield parsed(line);
      }
      pieces.push(piece.subarray(begin));
    }
    const rest = Buffer.concat(pieces).toString("utf8");
    if (rest.trim() !== "") yield parsed(rest);
  }

  #said(): string {
    const said = this.#secret === "" ? this.#complaint : this.#complaint.replaceAll(this.#secret, "…");
    return said.replaceAll(/\s+/g, " ").trim();
  }

  readonly #kill = (): void => {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
}

function parsed(line: string): Fields {
  try {
    return fieldsOf(JSON.parse(line));
  } catch (cause) {
    throw malformed(line, cause);
  }
}
