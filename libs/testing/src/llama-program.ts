import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installLlama } from "./llama-install.ts";

/**
 * Puts a real llama-server into a folder, under that name, as it lies on the PATH of a machine that has one. In CI it has to be had.
 * @returns why it cannot be had; empty where it can
 */
export async function putLlamaProgram(folder: string): Promise<string> {
  try {
    const { command, leadingArguments, workingDirectory, environment } = await installLlama();
    const set = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
    const words = [command, ...leadingArguments].map(quoted);
    const script = `#!/bin/sh\ncd ${quoted(workingDirectory)}\nexport ${set.join(" ")}\nexec ${words.join(" ")} "$@"\n`;
    writeFileSync(join(folder, "llama-server"), script);
    chmodSync(join(folder, "llama-server"), 0o755);
    return "";
  } catch (cause) {
    const reason = `llama-server cannot be had: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (process.env.CI) throw new Error(reason, { cause });
    return reason;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
