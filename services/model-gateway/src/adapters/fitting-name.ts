import { createHash } from "node:crypto";

const KEPT_CHARACTERS = 20;
const HASH_CHARACTERS = 16;

/**
 * A call's id or a tool's name as a provider takes it. One that another provider or a model made up may not fit: it becomes
 * a name of at most 37 letters, digits, _ and -, always the same, so that a result still names its call.
 */
export function fittingName(name: string, allowed: RegExp): string {
  if (allowed.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("base64url").slice(0, HASH_CHARACTERS);
  return `${name.slice(0, KEPT_CHARACTERS).replaceAll(/[^\w-]/g, "_")}_${hash}`;
}
