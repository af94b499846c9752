import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactScopeSchema, MemoryService, type Proposal } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { originWord } from "./fact-rows.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import styles from "./inbox.module.css";

const MOST = 100;

/** What models, and members for the whole organization, would have remembered, until somebody who may decides it. */
export function InboxView({ project, version, onOpen }: MemoryViewProps) {
  const memory = useClient(MemoryService);
  const { value, trouble, again } = useCall(`inbox ${project} ${version}`, (signal) =>
    memory.listProposals({ project, limit: MOST }, { signal }),
  );
  const decide = useAction(async (accepts: boolean, proposalId: string) => {
    await (accepts ? memory.acceptProposal({ proposalId, project }) : memory.rejectProposal({ proposalId, project }));
    again();
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={5} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  return (
    <>
      <TroubleNote trouble={trouble ?? decide.trouble} onAgain={again} />
      {value.proposals.length === 0 ? (
        <Empty title="Nothing waits" command="hlvm memory inbox list">
          <p>Here comes what a model would put in the place of something that a person said, and facts for the whole organization.</p>
        </Empty>
      ) : (
        <ul className={styles.inbox} aria-label="Proposals">
          {value.proposals.map((proposal) => (
            <ProposalRow
              key={proposal.fact!.factId}
              proposal={proposal}
              isBusy={decide.isBusy}
              onDecide={(accepts) => decide.run(accepts, proposal.fact!.factId)}
              onOpen={onOpen}
            />
          ))}
        </ul>
      )}
      {value.moreExist ? <p className={styles.more}>These are the oldest {value.proposals.length}.</p> : null}
    </>
  );
}

interface ProposalRowProps {
  readonly proposal: Proposal;
  readonly isBusy: boolean;
  readonly onDecide: (accepts: boolean) => void;
  readonly onOpen: (factId: string) => void;
}

function ProposalRow({ proposal: { fact, present, mayDecide }, isBusy, onDecide, onOpen }: ProposalRowProps) {
  const { text, proposesEnd, scope, origin, writtenBy, validFrom } = fact!;
  return (
    <li>
      <div className={styles.what}>
        {present === undefined ? null : (
          <button type="button" className={styles.present} onClick={() => onOpen(present.factId)}>
            <del>{shownProse(present.text)}</del>
          </button>
        )}
        {proposesEnd ? null : <p>{shownProse(text)}</p>}
        <small>
          {proposesEnd ? "to end" : present === undefined ? "to remember" : "to replace"} · {enumWord(FactScopeSchema, scope)} ·{" "}
          {originWord(origin)} · {personName(writtenBy)} · <RelativeTime at={validFrom} />
        </small>
      </div>
      {mayDecide ? (
        <div className={styles.decide}>
          <Button look="primary" disabled={isBusy} onClick={() => onDecide(true)}>
            Accept
          </Button>
          <Button disabled={isBusy} onClick={() => onDecide(false)}>
            Reject
          </Button>
        </div>
      ) : (
        <small>An approver decides.</small>
      )}
    </li>
  );
}
