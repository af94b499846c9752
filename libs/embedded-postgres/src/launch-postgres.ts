import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { postgresCommand } from "./postgres-command.ts";

export interface LaunchedPostgres {
  readonly child: ChildProcess;
  /** The exit code; null where it ended by a signal or could not be started. */
  readonly exited: Promise<number | null>;
}

/** In a process group of its own: a Ctrl-C in the terminal must reach it only through us. */
export function launchPostgres(program: "postgres" | "initdb", programArguments: readonly string[], logFile: string): LaunchedPostgres {
  const [command, commandArguments] = postgresCommand(program, programArguments);
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(command, commandArguments, {
      stdio: ["ignore", log, log],
      env: { PATH: process.env.PATH, TZ: "UTC" },
      detached: true,
    });
    const exited = new Promise<number | null>((resolve) => {
      child.once("exit", resolve);
      child.on("error", () => resolve(null));
    });
    return { child, exited };
  } finally {
    closeSync(log);
  }
}
