import type { CliConfig } from "./config.ts";
import type { Screen } from "./terminal/screen.ts";

/** What every command is given besides its own arguments. */
export interface CommandContext {
  readonly config: CliConfig;
  readonly screen: Screen;
  /** All calls of the command belong to this trace (W3C trace context). */
  readonly traceparent: string;
}

/** Takes the exit code of the command that ran. */
export type Finish = (exitCode: number) => void;

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_WRONG_USAGE = 2;
/** The reader of standard output went away: 128 and the number of SIGPIPE. */
export const EXIT_READER_GONE = 141;
