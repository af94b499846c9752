import { ProviderKeyService, type ProviderKey } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { useState, type SubmitEvent } from "react";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";

interface Draft {
  /** Of the key that is rotated; empty: a new one. */
  readonly rotated: string;
  readonly provider: string;
  readonly team: string;
  readonly name: string;
  readonly secret: string;
}

const NOTHING: Draft = { rotated: "", provider: "", team: "", name: "", secret: "" };

/** Keys of providers that belong to the organization and its teams; what is given is never shown again. */
export function KeysView() {
  const client = useClient(ProviderKeyService);
  const { value, trouble, again } = useCall("provider keys", (signal) => client.listProviderKeys({}, { signal }));
  const [draft, setDraft] = useState(NOTHING);
  const give = useAction(async ({ rotated, secret, ...given }: Draft) => {
    if (rotated === "") await client.addProviderKey({ ...given, secret });
    else await client.rotateProviderKey({ keyId: rotated, secret });
    setDraft(NOTHING);
    again();
  });
  const remove = useAction(async (keyId: string) => {
    await client.removeProviderKey({ keyId });
    setDraft(NOTHING);
    again();
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={3} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  return (
    <>
      <KeyForm draft={draft} providers={value.providers} isBusy={give.isBusy} onDraft={setDraft} onGive={give.run} />
      <TroubleNote trouble={trouble ?? give.trouble ?? remove.trouble} onAgain={again} />
      {value.keys.length === 0 ? (
        <Empty title="Your organization has given no keys" command="hlvm model key add anthropic">
          <p>Calls are made with those of the gateway’s environment.</p>
        </Empty>
      ) : (
        <KeyTable keys={value.keys} onRotate={(key) => setDraft({ ...NOTHING, ...key, rotated: key.keyId })} onRemove={remove.run} />
      )}
    </>
  );
}

interface KeyFormProps {
  readonly draft: Draft;
  readonly providers: readonly string[];
  readonly isBusy: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onGive: (draft: Draft) => void;
}

function KeyForm({ draft, providers, isBusy, onDraft, onGive }: KeyFormProps) {
  const isRotated = draft.rotated !== "";
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const secret = draft.secret.trim();
    if (secret !== "") onGive({ ...draft, secret, team: draft.team.trim(), provider: draft.provider || providers[0]! });
  };
  return (
    <form className={table.form} onSubmit={submit}>
      {isRotated ? (
        <span>
          Another key in place of {shownProse(draft.name)} for {draft.provider}
        </span>
      ) : (
        <>
          <select
            className={table.input}
            aria-label="Provider"
            value={draft.provider || providers[0]}
            onChange={({ target }) => onDraft({ ...draft, provider: target.value })}
          >
            {providers.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <input
            className={table.input}
            aria-label="Team"
            placeholder="All teams"
            maxLength={64}
            value={draft.team}
            onChange={({ target }) => onDraft({ ...draft, team: target.value })}
          />
          <input
            className={table.input}
            aria-label="Name"
            placeholder="Name, where there are several"
            maxLength={64}
            value={draft.name}
            onChange={({ target }) => onDraft({ ...draft, name: target.value })}
          />
        </>
      )}
      <input
        className={`${table.input} ${table.wide}`}
        type="password"
        autoComplete="off"
        aria-label="Key"
        placeholder="The key; it is stored encrypted and never shown again"
        maxLength={8192}
        value={draft.secret}
        onChange={({ target }) => onDraft({ ...draft, secret: target.value })}
      />
      <Button look="primary" type="submit" disabled={isBusy}>
        {isRotated ? "Rotate" : "Add"}
      </Button>
      {isRotated ? <Button onClick={() => onDraft(NOTHING)}>Cancel</Button> : null}
    </form>
  );
}

interface KeyTableProps {
  readonly keys: readonly ProviderKey[];
  readonly onRotate: (key: ProviderKey) => void;
  readonly onRemove: (keyId: string) => void;
}

function KeyTable({ keys, onRotate, onRemove }: KeyTableProps) {
  const removed = ({ keyId, name, provider }: ProviderKey): void => {
    if (window.confirm(`Remove ${shownProse(name)} for ${provider}? Calls by it end with the next one.`)) onRemove(keyId);
  };
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label="Keys">
      <table className={table.table}>
        <thead>
          <tr>
            {["Provider", "Team", "Name", "Ends", "Given", "Change"].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.keyId}>
              <td>{key.provider}</td>
              <td>{key.team === "" ? "all" : shownProse(key.team)}</td>
              <td>{shownProse(key.name)}</td>
              <td>{key.ending === "" ? "" : <code>…{key.ending}</code>}</td>
              <td>
                <RelativeTime at={key.rotatedAt ?? key.createdAt} /> by {shownProse(key.changedBy)}
              </td>
              <td className={table.nowrap}>
                <Button onClick={() => onRotate(key)} aria-label={`Rotate ${key.name}`}>
                  Rotate
                </Button>{" "}
                <Button onClick={() => removed(key)} aria-label={`Remove ${key.name}`}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
