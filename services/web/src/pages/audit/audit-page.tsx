import { enumWord } from "@hlvm/ndjson/enum-word";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditService, OutcomeStatus, OutcomeStatusSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStepSchema, Decision, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Fragment, useDeferredValue, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { VisibleLines } from "../../parts/code-lines.tsx";
import { Empty } from "../../parts/empty.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark, type Tone } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";

const SHOWN = 100;
const SPANS: Readonly<Record<string, number>> = { "1h": 3_600_000, "1d": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 };
const DECISIONS: Readonly<Record<string, Decision>> = { allow: Decision.ALLOW, ask: Decision.ASK, deny: Decision.DENY };
const TONES: Readonly<Record<number, Tone>> = { [Decision.ALLOW]: "ok", [Decision.ASK]: "warn", [Decision.DENY]: "danger" };

/** Who asked for what, who decided, and what came of it. The question is the address. */
export function AuditPage() {
  const audit = useClient(AuditService);
  const [search, setSearch] = useSearchParams();
  const field = (name: string): string => search.get(name) ?? "";
  const set = (name: string, value: string): void =>
    setSearch(
      (before) => {
        if (value === "") before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  const since = field("since") || "7d";
  const asked = useDeferredValue([field("tool"), field("path"), field("text"), field("decision"), since].join("\n"));
  const { value, trouble, again, isLoading } = useCall(asked, (signal) => {
    const [tool, path, text, decision, span] = asked.split("\n") as [string, string, string, string, string];
    const from = timestampFromMs(Date.now() - (SPANS[span] ?? SPANS["7d"]!));
    return audit.query({ tool, path, text, decision: DECISIONS[decision], since: from, limit: SHOWN }, { signal });
  });
  return (
    <PageFrame title="Audit">
      <div className={table.form}>
        <input
          className={`${table.input} ${table.wide}`}
          type="search"
          aria-label="Words in it"
          placeholder="Words in it"
          value={field("text")}
          onChange={(event) => set("text", event.target.value)}
        />
        <input
          className={table.input}
          aria-label="Tool"
          placeholder="Tool"
          value={field("tool")}
          onChange={(event) => set("tool", event.target.value)}
        />
        <input
          className={table.input}
          aria-label="Path that it names"
          placeholder="Path that it names"
          value={field("path")}
          onChange={(event) => set("path", event.target.value)}
        />
        <select
          className={table.input}
          aria-label="Decision"
          value={field("decision")}
          onChange={(event) => set("decision", event.target.value)}
        >
          <option value="">any decision</option>
          {Object.keys(DECISIONS).map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
        <select className={table.input} aria-label="Since" value={since} onChange={(event) => set("since", event.target.value)}>
          {Object.keys(SPANS).map((span) => (
            <option key={span} value={span}>
              last {span}
            </option>
          ))}
        </select>
        <Button disabled={isLoading} onClick={again}>
          Look again
        </Button>
      </div>
      <TroubleNote trouble={trouble} onAgain={again} />
      {value === undefined ? (
        trouble === undefined ? (
          <Skeleton rows={8} />
        ) : null
      ) : value.events.length === 0 ? (
        <Empty title="No call fits" command={`hlvm audit query --since ${since}`} />
      ) : (
        <AuditTable events={value.events} />
      )}
      <p className={table.section}>
        <span className={table.quiet}>
          {value?.nextBeforeId === 0n || value === undefined ? "" : `The newest ${SHOWN} are shown. `}That you looked is on record too.
        </span>
      </p>
    </PageFrame>
  );
}

function AuditTable({ events }: { readonly events: readonly AuditEvent[] }) {
  const [opened, setOpened] = useState<bigint | undefined>(undefined);
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label="Calls">
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Tool</th>
            <th scope="col">Decision</th>
            <th scope="col">Rule</th>
            <th scope="col">Outcome</th>
            <th scope="col">Session</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <Fragment key={String(event.id)}>
              <tr>
                <td className={table.nowrap}>
                  <RelativeTime at={event.at} isShort />
                </td>
                <td>{personName(event.principal)}</td>
                <td>
                  <Button
                    look="bare"
                    aria-expanded={opened === event.id}
                    onClick={() => setOpened(opened === event.id ? undefined : event.id)}
                  >
                    {event.tool}
                  </Button>
                </td>
                <td className={table.nowrap}>
                  <StateMark tone={TONES[event.decision] ?? "plain"}>
                    {`${enumWord(DecisionSchema, event.decision)} · ${enumWord(DecidingStepSchema, event.step).replaceAll("_", " ")}`}
                  </StateMark>
                </td>
                <td className={table.quiet}>{event.rule}</td>
                <td>
                  {event.outcome === OutcomeStatus.UNSPECIFIED ? "" : enumWord(OutcomeStatusSchema, event.outcome).replaceAll("_", " ")}
                </td>
                <td>{event.sessionId === "" ? "" : <Link href={`/s/${event.sessionId}`}>{event.sessionId.slice(0, 8)}</Link>}</td>
              </tr>
              {opened === event.id ? (
                <tr>
                  <td colSpan={7}>
                    <OpenedEvent event={event} />
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OpenedEvent({ event }: { readonly event: AuditEvent }) {
  const { argumentsJson, argumentsHash, reason, outcomeSummary, traceId, callId } = event;
  const pairs = { Reason: reason, Outcome: outcomeSummary, Call: callId, Trace: traceId, "SHA-256": argumentsHash };
  return (
    <>
      <VisibleLines text={argumentsJson} />
      <dl className={parts.pairs}>
        {Object.entries(pairs)
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
      </dl>
    </>
  );
}
