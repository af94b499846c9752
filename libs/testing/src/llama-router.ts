import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CACHE, installLlama, type LlamaInstallation } from "./llama-install.ts";
import { runLlamaServer, type LlamaServerAttempt } from "./llama-server.ts";
import { writeRandomModel } from "./random-model.ts";

const INTERPRETER = "/lib64/ld-linux-x86-64.so.2\0";
const LOADER = "ld-linux-x86-64.so.2";

/**
 * A real llama-server that is a router: it starts a server of its own for each of these models when it is first asked. Or why it cannot be had
 * here; in CI it has to be had.
 * @param broken names of models whose files are none
 */
export async function startLlamaRouter(models: readonly string[], broken: readonly string[] = []): Promise<LlamaServerAttempt> {
  try {
    const installation = startsItself(await installLlama());
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, "models-"));
    for (const name of models) writeRandomModel(join(folder, `${name}.gguf`));
    for (const name of broken) writeFileSync(join(folder, `${name}.gguf`), "GGUF and nothing more");
    const flags = ["--models-dir", folder, "--parallel", "2", "--ctx-size", "16384"];
    return await runLlamaServer(installation, flags, () => rmSync(folder, { recursive: true, force: true }));
  } catch (cause) {
    const reason = `a llama-server that is a router cannot be had: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (process.env.CI) throw new Error(reason, { cause });
    return { unavailable: reason };
  }
}

/**
 * A router starts the program that it is itself, which under a loader that was named by hand is the loader. So this copy names its
 * loader, beside its working folder, as programs do.
 */
function startsItself({ workingDirectory, environment, leadingArguments: [, libraries, program] }: LlamaInstallation): LlamaInstallation {
  const own = join(dirname(program!), "llama-router");
  if (!existsSync(own)) {
    const bytes = readFileSync(program!);
    const at = bytes.indexOf(INTERPRETER);
    if (at === -1) throw new Error(`${program!} names no loader that is known`);
    bytes.write(LOADER.padEnd(INTERPRETER.length, "\0"), at, "latin1");
    writeFileSync(`${own}.${process.pid}`, bytes);
    chmodSync(`${own}.${process.pid}`, 0o755);
    renameSync(`${own}.${process.pid}`, own);
  }
  const loader = join(workingDirectory, LOADER);
  if (!existsSync(loader)) symlinkSync(join(workingDirectory, "..", "..", LOADER), loader);
  return { command: own, leadingArguments: [], workingDirectory, environment: { ...environment, LD_LIBRARY_PATH: libraries! } };
}
