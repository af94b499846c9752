import { readFileSync } from "node:fs";
import { join } from "node:path";

export const SUPERUSER = "postgres";
export const PORT = 5432;

/** The file with the superuser's password. */
export function superuserPasswordFile(directory: string): string {
  return join(directory, "superuser-password");
}

/** How the superuser reaches a database of the PostgreSQL whose data lie in a directory. */
export function superuserUrl(place: { readonly directory: string; readonly socketDirectory: string }, database: string): string {
  const password = readFileSync(superuserPasswordFile(place.directory), "utf8");
  return `postgresql://${SUPERUSER}:${password}@/${database}?host=${encodeURIComponent(place.socketDirectory)}&port=${PORT}`;
}
