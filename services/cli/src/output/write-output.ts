import { once } from "node:events";

/** Writes to standard output, and waits for a reader that is slower than what is written. */
export async function writeOutput(text: string, signal?: AbortSignal): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain", { signal });
}
