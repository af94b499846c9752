import { HlvmError } from "@hlvm/errors/hlvm-error";

const WRONG_USAGE = "wrong_usage";

/** The command was called in a way that cannot be meant: it ends with exit code 2. */
export function wrongUsage(message: string, advice: string): HlvmError {
  return new HlvmError({ code: "invalid_argument", reason: WRONG_USAGE, message, advice });
}

export function isWrongUsage(error: HlvmError): boolean {
  return error.reason === WRONG_USAGE;
}
