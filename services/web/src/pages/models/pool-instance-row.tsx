import { enumWord } from "@hlvm/ndjson/enum-word";
import { DrainReason, InstanceState, InstanceStateSchema, PoolService, type PoolInstance } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { useState } from "react";
import { useAction } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { StateMark, type Tone } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord } from "../../parts/words.ts";
import { SlotStrip } from "./slot-strip.tsx";
import styles from "./models.module.css";

const TONES: Readonly<Partial<Record<InstanceState, Tone>>> = {
  [InstanceState.READY]: "ok",
  [InstanceState.FAILING]: "danger",
  [InstanceState.DRAINING]: "warn",
  [InstanceState.STARTING]: "info",
};

interface PoolInstanceRowProps {
  readonly instance: PoolInstance;
  /** Gateways that share the server. */
  readonly replicas: number;
  readonly mayDrain: boolean;
  readonly onChanged: () => void;
}

/** One server: whether it answers and since when, its slots, what its cache gave; taken out of use and in again. */
export function PoolInstanceRow({ instance, replicas, mayDrain, onChanged }: PoolInstanceRowProps) {
  const client = useClient(PoolService);
  const [hasFocus, setFocus] = useState(false);
  const { url, state, since, lastError, drainReason, models, answers } = instance;
  const isDraining = state === InstanceState.DRAINING;
  const change = useAction(async () => {
    if (
      !isDraining &&
      !confirm(`Drain ${url}? It gets no new requests${replicas > 1 ? " from this gateway" : ""}; what it is at is not cut.`)
    )
      return;
    await (isDraining ? client.resumeInstance({ url }) : client.drainInstance({ url }));
    onChanged();
  });
  return (
    <li className={styles.instance} tabIndex={0} data-row onFocus={() => setFocus(true)} onBlur={() => setFocus(false)}>
      <div className={styles.server}>
        <p>{shownProse(url)}</p>
        <p className={styles.quiet}>{models.length === 0 ? "no model" : shownProse(models.map(({ name }) => name).join(", "))}</p>
      </div>
      <p className={styles.state}>
        <StateMark tone={TONES[state] ?? "plain"}>{enumWord(InstanceStateSchema, state)}</StateMark>{" "}
        <span className={styles.quiet}>
          <RelativeTime at={since} />
        </span>
      </p>
      <SlotStrip instance={instance} />
      <p className={styles.quiet}>
        {cacheWord(instance)}
        <br />
        {countWord(answers, "answer")}
      </p>
      {mayDrain ? (
        <Button
          data-key={hasFocus ? "d" : undefined}
          // What is named no more comes back by being named.
          disabled={change.isBusy || drainReason === DrainReason.VANISHED}
          aria-label={`${isDraining ? "Resume" : "Drain"} ${url}`}
          onClick={() => change.run()}
        >
          {isDraining ? "Resume" : "Drain"}
        </Button>
      ) : null}
      {lastError === "" ? null : <p className={styles.why}>{shownProse(lastError)}</p>}
      <TroubleNote trouble={change.trouble} />
    </li>
  );
}

function cacheWord({ promptTokens, cachedTokens, expectedCachedTokens }: PoolInstance): string {
  const percent = (part: bigint): string => `${Math.round((100 * Number(part)) / Number(promptTokens))} %`;
  return promptTokens === 0n ? "nothing read yet" : `${percent(cachedTokens)} cached, ${percent(expectedCachedTokens)} expected`;
}
