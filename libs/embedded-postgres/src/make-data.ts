import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { launchPostgres } from "./launch-postgres.ts";
import { postgresFailed } from "./postgres-failed.ts";

const LOOK_MILLISECONDS = 10;
const MAXIMUM_LOOKS = 100;

export interface NewData {
  readonly data: string;
  readonly superuser: string;
  readonly passwordFile: string;
  readonly logFile: string;
  /** Whether all of it is on the disk before it gets its name. */
  readonly durable: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes the data under another name first: what bears the right name is whole. That other folder is there from the first
 * moment to the last, so that a password without either tells of data that was lost.
 */
export async function makeData({ data, superuser, passwordFile, logFile, durable, signal }: NewData): Promise<void> {
  const unfinished = `${data}.unfinished`;
  if (existsSync(passwordFile) && !existsSync(unfinished))
    throw new HlvmError({
      code: "failed_precondition",
      reason: "postgres_data_missing",
      message: `PostgreSQL's data was in ${data} and is not there any more.`,
      advice: `Put it back from a backup. To begin anew, with everything forgotten, remove ${passwordFile}.`,
    });
  mkdirSync(unfinished, { mode: 0o700, recursive: true });
  for (const name of readdirSync(unfinished)) rmSync(join(unfinished, name), { recursive: true });
  writeFileSync(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600, flush: durable });

  const settings = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", ...(durable ? [] : ["--no-sync"])];
  const { child, exited } = launchPostgres("initdb", ["-D", unfinished, "-U", superuser, `--pwfile=${passwordFile}`, ...settings], logFile);
  // With what it has started itself: the next start throws away what is unfinished.
  const giveUp = (): void => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  signal?.addEventListener("abort", giveUp);
  const code = await exited;
  signal?.removeEventListener("abort", giveUp);
  if (signal?.aborted === true && child.pid !== undefined) await groupEnded(child.pid);
  signal?.throwIfAborted();
  if (code !== 0) throw postgresFailed("could not make its data folder", logFile);
  renameSync(unfinished, data);
  if (durable) flushFolder(dirname(data));
}

/** What was killed takes the kernel a moment to end. */
async function groupEnded(leader: number): Promise<void> {
  for (let look = 0; look < MAXIMUM_LOOKS; look++) {
    try {
      process.kill(-leader, 0);
    } catch {
      return;
    }
    await sleep(LOOK_MILLISECONDS);
  }
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
