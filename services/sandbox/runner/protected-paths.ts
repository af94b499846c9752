/** The names of the platform's one list, in lower case, as the service gave them. */
const names = new Set((process.env.HLVM_PROTECTED_PATHS ?? "").split("\n"));

export function isProtectedName(name: string): boolean {
  return names.has(name.toLowerCase());
}

/** @param relative a real path, relative to the workspace */
export function isProtected(relative: string): boolean {
  return relative.split("/").some(isProtectedName);
}
