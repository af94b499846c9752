/**
 * What is said on the control socket, one JSON object a line. The supervisor greets every connection; from then on the
 * connection is a reference to the mesh, until it asks for its end. A side that wants to leave ends its half; the supervisor answers
 * with its own half at once where the mesh lives on, and else when everything has ended.
 */
export const GREETING = { mesh: "up" } as const;
export const DOWN = { command: "down" } as const;
/** Answered with one line, `RotationAnswer`. */
export const ROTATE_KEYS = { command: "rotate-keys" } as const;
const BACK_UP = "back-up";

/** Answered with one line, `BackupAnswer`. @param folder absolute */
export function backUpCommand(folder: string): object {
  return { command: BACK_UP, folder };
}

/** The folder of such a command; undefined where a line is another. */
export function backUpFolder(received: string): string | undefined {
  try {
    const { command, folder } = JSON.parse(received) as { readonly command?: unknown; readonly folder?: unknown };
    return command === BACK_UP && typeof folder === "string" ? folder : undefined;
  } catch {
    return undefined;
  }
}

export function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
