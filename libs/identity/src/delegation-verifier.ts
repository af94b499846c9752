import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { expiryOf, principalOf, textOf } from "./claims.ts";
import { verifyJws } from "./compact-jws.ts";
import { DELEGATION_SECONDS, LINK_SEPARATOR, MAXIMUM_LINKS, type Delegation } from "./delegation.ts";
import type { PublicKeys } from "./public-keys.ts";

const MAXIMUM_REMEMBERED = 1_000;
const ISSUER = "edge";

interface Remembered {
  readonly delegation: Delegation;
  /** Of every part. */
  readonly kids: readonly string[];
}

/** Tells from a delegation what its run may do. One that was good stays good until it or its key expires, without another check. */
export class DelegationVerifier {
  readonly #keys: PublicKeys;
  readonly #remembered = new Map<string, Remembered>();

  constructor(keys: PublicKeys) {
    this.#keys = keys;
  }

  /** @throws HlvmError `delegation_refused`, which says why */
  verify(text: string): Delegation {
    const known = this.#remembered.get(text);
    if (
      known !== undefined &&
      known.delegation.expiresAt > Date.now() / 1000 &&
      known.kids.every((kid) => this.#keys.find(kid) !== undefined)
    )
      return known.delegation;
    this.#remembered.delete(text);
    try {
      const checked = this.#check(text);
      if (this.#remembered.size >= MAXIMUM_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(text, checked);
      return checked.delegation;
    } catch (cause) {
      throw new HlvmError({
        code: "unauthenticated",
        reason: "delegation_refused",
        message: `The delegation does not count: ${(cause as Error).message}.`,
        advice: "Start the run through the edge; it delegates what the person set.",
        cause,
      });
    }
  }

  #check(text: string): Remembered {
    const [root = "", ...links] = text.split(LINK_SEPARATOR);
    if (links.length > MAXIMUM_LINKS) throw new Error(`it was narrowed more than ${MAXIMUM_LINKS} times`);
    let checked = this.#checkRoot(root);
    let above = root;
    for (const link of links) {
      checked = this.#checkLink(link, above, checked);
      above = `${above}${LINK_SEPARATOR}${link}`;
    }
    return checked;
  }

  #checkRoot(text: string): Remembered {
    const { claims, kid, signer } = verifyJws(text, "hlvm-delegation+jwt", this.#keys);
    if (signer.service !== ISSUER || claims.iss !== ISSUER) throw new Error("only the edge delegates");
    const delegation = {
      principal: principalOf(claims),
      sessionId: textOf(claims, "session"),
      runId: textOf(claims, "run"),
      settings: fromJson(PermissionSettingsSchema, claims.settings as JsonValue),
      within: [],
      depth: 0,
      authorizedParty: textOf(claims, "azp"),
      expiresAt: expiryOf(claims, DELEGATION_SECONDS),
      ...modelAccessOf(claims),
    };
    return { delegation, kids: [kid] };
  }

  /** Of a link only the run and the settings are taken: whose it is, in which session and until when stays as it was above it. */
  #checkLink(text: string, above: string, { delegation, kids }: Remembered): Remembered {
    const { claims, kid, signer } = verifyJws(text, "hlvm-narrowing+jwt", this.#keys);
    if (signer.service !== delegation.authorizedParty || claims.iss !== signer.service)
      throw new Error("it was narrowed by a service that may not act on it");
    if (claims.narrows !== sha256Hex(above)) throw new Error("one of its links narrows another delegation");
    const runId = textOf(claims, "run");
    const narrowed = {
      ...delegation,
      runId,
      settings: fromJson(PermissionSettingsSchema, claims.settings as JsonValue),
      within: [...delegation.within, delegation.settings],
      depth: delegation.depth + (runId === delegation.runId ? 0 : 1),
      expiresAt: Math.min(delegation.expiresAt, expiryOf(claims, DELEGATION_SECONDS)),
    };
    return { delegation: narrowed, kids: [...kids, kid] };
  }
}

/** @throws Error */
function modelAccessOf({ model_token: tokenId, models }: Readonly<Record<string, unknown>>): Pick<Delegation, "modelAccess"> {
  if (tokenId === undefined && models === undefined) return {};
  if (typeof tokenId !== "string" || !Array.isArray(models) || !models.every((model) => typeof model === "string"))
    throw new Error("it does not say which models it is for");
  return { modelAccess: { tokenId, allowedModels: models } };
}
