import { readdirSync } from "node:fs";

/** The names of the `NNNN_name.sql` files of a folder, in the order in which they are applied. */
export function migrationFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort();
}
