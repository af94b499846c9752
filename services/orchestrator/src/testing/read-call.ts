import type { SaidCall } from "./say.ts";

/** A model's call that reads a file; the file's path is its id, too. */
export const readCall = (path: string): SaidCall => ({ id: path, tool: "read_file", arguments: { path } });
