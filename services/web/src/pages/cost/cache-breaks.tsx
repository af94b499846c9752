import { enumWord } from "@hlvm/ndjson/enum-word";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CacheBreakCause, CacheBreakCauseSchema, SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { Link } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord } from "../../parts/words.ts";
import styles from "./cost.module.css";
import { moneyWord } from "./spend.ts";

const SHOWN = 10;
const WHY: Readonly<Partial<Record<CacheBreakCause, string>>> = {
  [CacheBreakCause.MODEL]: "another model was asked",
  [CacheBreakCause.TOOLS]: "tools came, went or changed",
  [CacheBreakCause.SYSTEM]: "what stands before the conversation changed",
  [CacheBreakCause.MESSAGES]: "the conversation was compacted, undone or taken up elsewhere",
  [CacheBreakCause.IDLE]: "a pause of more than five minutes",
  [CacheBreakCause.PROVIDER]: "nothing changed: the provider had forgotten it",
};

/** Where providers' caches broke since a time: why, and what that cost. */
export function CacheBreaks({ since }: { readonly since: Date }) {
  const client = useClient(SpendingService);
  const { value, trouble, again } = useCall(since.toISOString(), (signal) =>
    client.listCacheBreaks({ since: timestampFromDate(since) }, { signal }),
  );
  return (
    <section className={styles.section} aria-labelledby="breaks">
      <h2 id="breaks">Broken caches</h2>
      <TroubleNote trouble={trouble} onAgain={again} />
      {value === undefined ? (
        trouble === undefined ? (
          <Skeleton rows={2} />
        ) : null
      ) : value.breaks.length === 0 ? (
        <p className={styles.none}>
          No call of {countWord(value.calls, "call")} paid anew for what had been sent before. <code>hlvm cost breaks</code>
        </p>
      ) : (
        <>
          <p className={styles.none}>
            {value.brokenCalls.toLocaleString()} of {countWord(value.calls, "call")} paid anew for what had been sent before.
          </p>
          <div className={table.scrolls} tabIndex={0} role="region" aria-label="Broken caches">
            <table className={table.table}>
              <thead>
                <tr>
                  <th scope="col">Why</th>
                  <th scope="col" className={table.right}>
                    Calls
                  </th>
                  <th scope="col" className={table.right}>
                    Tokens
                  </th>
                  <th scope="col" className={table.right}>
                    Cost
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.sums.map(({ cause, breaks, lostTokens, nanoDollars }) => (
                  <tr key={cause}>
                    <td>
                      {enumWord(CacheBreakCauseSchema, cause)} <span className={table.quiet}>{WHY[cause]}</span>
                    </td>
                    <td className={table.right}>{breaks.toLocaleString()}</td>
                    <td className={table.right}>{lostTokens.toLocaleString()}</td>
                    <td className={table.right}>{moneyWord(nanoDollars)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <h3>The latest</h3>
          <ul className={styles.latest}>
            {value.breaks.slice(0, SHOWN).map(({ sessionId, runId, turn, at, model, cause, reusableTokens, cachedTokens, nanoDollars }) => (
              <li key={`${runId} ${turn}`}>
                <Link href={`/s/${sessionId}`}>{sessionId.slice(0, 8)}</Link> {at === undefined ? null : <RelativeTime at={at} />}{" "}
                <span>{enumWord(CacheBreakCauseSchema, cause)}</span>{" "}
                <span className={table.quiet}>
                  {model}, {(reusableTokens - cachedTokens).toLocaleString()} tokens,{" "}
                  {nanoDollars === undefined ? "unknown" : moneyWord(nanoDollars)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
