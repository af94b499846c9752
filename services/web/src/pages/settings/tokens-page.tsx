import { timestampDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { TokenScope, TokenScopeSchema, TokenService, type Token } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { useState } from "react";
import { Link } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { PageFrame } from "../../shell/page-frame.tsx";

const SCOPES = [TokenScope.READ, TokenScope.RUN, TokenScope.APPROVE, TokenScope.AUDIT, TokenScope.ADMIN, TokenScope.MODEL] as const;

/** One's own tokens, with which programs act in one's name. A new one is shown this once. */
export function TokensPage() {
  const client = useClient(TokenService);
  const found = useCall("tokens", (signal) => client.listTokens({}, { signal }));
  const [label, setLabel] = useState("");
  const [scope, setScope] = useState<TokenScope>(TokenScope.READ);
  const [models, setModels] = useState("");
  const [secret, setSecret] = useState("");
  const create = useAction(async () => {
    const allowedModels = scope === TokenScope.MODEL ? models.split(/[\s,]+/).filter((name) => name !== "") : [];
    const made = await client.createToken({ label: label.trim(), scopes: [scope], allowedModels });
    setSecret(made.secret);
    setLabel("");
    found.again();
  });
  const revoke = useAction(async (tokenId: string) => {
    await client.revokeToken({ tokenId });
    found.again();
  });
  return (
    <PageFrame title="Tokens" above={<Link href="/settings">Settings</Link>}>
      <form
        className={table.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (label.trim() !== "") create.run();
        }}
      >
        <input
          className={`${table.input} ${table.wide}`}
          aria-label="What you will know the token by"
          placeholder="What you will know it by"
          maxLength={100}
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
        <select
          className={table.input}
          aria-label="What it may"
          value={scope}
          onChange={(event) => setScope(Number(event.target.value) as TokenScope)}
        >
          {SCOPES.map((one) => (
            <option key={one} value={one}>
              {enumWord(TokenScopeSchema, one)}
            </option>
          ))}
        </select>
        {scope === TokenScope.MODEL ? (
          <input
            className={table.input}
            aria-label="Which models it is for"
            placeholder="All models, or anthropic/*, llama/*"
            value={models}
            onChange={(event) => setModels(event.target.value)}
          />
        ) : null}
        <Button type="submit" look="primary" disabled={create.isBusy}>
          Make a token
        </Button>
      </form>
      {secret === "" ? null : (
        <div className={table.section} role="status">
          <p>It is shown this once; what is kept is its hash.</p>
          <code>{secret}</code>
        </div>
      )}
      <TroubleNote trouble={found.trouble ?? create.trouble ?? revoke.trouble} onAgain={found.again} />
      {found.value === undefined ? (
        <Skeleton rows={3} />
      ) : found.value.tokens.length === 0 ? (
        <Empty title="You have no tokens" command="hlvm token create LABEL" />
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="Tokens">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Token</th>
                <th scope="col">May</th>
                <th scope="col">State</th>
                <th scope="col">Last used</th>
                <th scope="col">Access</th>
              </tr>
            </thead>
            <tbody>
              {found.value.tokens.map((token) => (
                <tr key={token.tokenId}>
                  <td>{shownProse(token.label)}</td>
                  <td>
                    {token.scopes.map((one) => enumWord(TokenScopeSchema, one)).join(", ")}
                    {token.allowedModels.length === 0 ? null : ` (${shownProse(token.allowedModels.join(", "))})`}
                  </td>
                  <td>{stateOf(token)}</td>
                  <td>{token.lastUsedAt === undefined ? "never" : <RelativeTime at={token.lastUsedAt} />}</td>
                  <td>
                    {isOver(token) ? null : (
                      <Button onClick={() => revoke.run(token.tokenId)} aria-label={`Revoke ${token.label}`}>
                        Revoke
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </PageFrame>
  );
}

function isOver({ expiresAt, revokedAt }: Token): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && timestampDate(expiresAt) <= new Date());
}

function stateOf(token: Token) {
  if (token.revokedAt !== undefined) return "revoked";
  if (isOver(token)) return "expired";
  return (
    <>
      ends <RelativeTime at={token.expiresAt} />
    </>
  );
}
