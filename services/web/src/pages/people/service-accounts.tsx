import { timestampDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { TokenScopeSchema, TokenService, type Token } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";

/** The tokens with which programs call as nobody in particular; an account is there as long as it has one. */
export function ServiceAccounts() {
  const client = useClient(TokenService);
  const found = useCall("accounts", (signal) => client.listTokens({ serviceAccounts: true }, { signal }));
  const revoke = useAction(async (tokenId: string) => {
    await client.revokeToken({ tokenId });
    found.again();
  });
  const live = found.value?.tokens.filter((token) => !isOver(token)) ?? [];
  return (
    <section className={table.section}>
      <h2>Service accounts</h2>
      <TroubleNote trouble={found.trouble ?? revoke.trouble} onAgain={found.again} />
      <ul>
        {live.map(({ tokenId, owner, label, scopes, expiresAt, lastUsedAt }) => (
          <li key={tokenId} className={table.checked}>
            <p>{owner.replace(/^account:/, "")}</p>
            <p>
              {shownProse(label)}: {scopes.map((scope) => enumWord(TokenScopeSchema, scope)).join(", ")}; ends{" "}
              <RelativeTime at={expiresAt} />, last used {lastUsedAt === undefined ? "never" : <RelativeTime at={lastUsedAt} />}{" "}
              <Button aria-label={`Revoke ${label} of ${owner}`} disabled={revoke.isBusy} onClick={() => revoke.run(tokenId)}>
                Revoke
              </Button>
            </p>
          </li>
        ))}
      </ul>
      <p className={table.quiet}>
        A program that is nobody's gets one by: <code>hlvm token create LABEL --account NAME --scope run</code>. It answers and administers
        nothing.
      </p>
    </section>
  );
}

function isOver({ expiresAt, revokedAt }: Token): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && timestampDate(expiresAt) <= new Date());
}
