/** Something is missing that a person has to put right; the message says how. */
export class NotPrepared extends Error {}

/** Runs `work`, and ends the process in words where something is missing. */
export async function orExplain(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotPrepared)) throw error;
    say(error.message);
    process.exit(1);
  }
}

/** Writes a line for a person to standard error: standard output is the command's. */
export function say(line) {
  process.stderr.write(`hlvm: ${line}\n`);
}
