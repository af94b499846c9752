import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { Principal } from "@hlvm/identity/principal";

const HASH_LENGTH = 32;

/** How a caller is known where models are: to providers by a hash, in a pool by whose share it is. */
export function callerNames({ organization, id }: Pick<Principal, "organization" | "id">): {
  readonly userHash: string;
  readonly fairShare: string;
} {
  const fairShare = `${organization}/${id}`;
  return { userHash: sha256Hex(fairShare).slice(0, HASH_LENGTH), fairShare };
}
