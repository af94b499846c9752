import { entityKey } from "./entity-key.ts";
import { findEntities } from "./find-entities.ts";

/** Keys under which somebody may mean an entity by a name: `./docs/`, `@ada` and `flush()` are found as texts write them, too. */
export function askedKeys(name: string): string[] {
  const formed = findEntities(`x ${name}`);
  return [...new Set([entityKey(name), ...(formed.length === 1 ? [formed[0]!.key] : [])])];
}
