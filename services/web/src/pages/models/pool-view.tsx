import { MemberRole, MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { PoolService, type ListPoolResponse } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { useEffect } from "react";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";
import { PoolInstanceRow } from "./pool-instance-row.tsx";
import styles from "./models.module.css";

const AGAIN_MILLISECONDS = 2_000;

/** The llama-servers, what each is at, and who waits before them; asked again as long as somebody looks. */
export function PoolView() {
  const client = useClient(PoolService);
  const members = useClient(MemberService);
  const { isTeam } = usePage();
  const { value, trouble, isLoading, again } = useCall("pool", (signal) => client.listPool({}, { signal }));
  const me = useCall("me", async (signal) => (isTeam ? members.getMe({}, { signal }) : undefined));
  const mayDrain = !isTeam || me.value?.roles.includes(MemberRole.ADMIN) === true;
  const isRefused = trouble?.isRefused === true;
  useEffect(() => {
    if (isLoading || isRefused) return undefined;
    const look = (): void => {
      if (document.visibilityState === "visible") again();
    };
    const timer = setInterval(look, AGAIN_MILLISECONDS);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isLoading, isRefused, again]);
  if (value === undefined) return trouble === undefined ? <Skeleton rows={5} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  if (value.instances.length === 0 && value.discoveryError === "")
    return (
      <Empty title="There is no llama-server" command="hlvm model pool">
        <p>HLVM_LLAMA_URLS names them, before the mesh starts.</p>
      </Empty>
    );
  return (
    <>
      <TroubleNote trouble={trouble} onAgain={again} />
      <Queue pool={value} />
      <ul className={styles.instances} aria-label="Servers">
        {value.instances.map((instance) => (
          <PoolInstanceRow key={instance.url} instance={instance} replicas={value.replicas} mayDrain={mayDrain} onChanged={again} />
        ))}
      </ul>
    </>
  );
}

function Queue({ pool }: { readonly pool: ListPoolResponse }) {
  const { instances, queuedInteractive, queuedBatch, replica, replicas, discoveryError } = pool;
  const sum = (of: (instance: (typeof instances)[number]) => number | bigint): number =>
    instances.reduce((all, instance) => all + Number(of(instance)), 0);
  const prompt = sum(({ promptTokens }) => promptTokens);
  const figures = [
    ["Waiting", String(queuedInteractive), "interactive"],
    ["Waiting", String(queuedBatch), "batch"],
    ["Busy", String(sum(({ inFlight }) => inFlight)), `of ${sum(({ ownSlots }) => ownSlots)} slots`],
    [
      "From caches",
      prompt === 0 ? "–" : `${Math.round((100 * sum(({ cachedTokens }) => cachedTokens)) / prompt)} %`,
      "of what prompts hold",
    ],
  ] as const;
  return (
    <div className={styles.queue}>
      <dl className={styles.figures}>
        {figures.map(([name, figure, of]) => (
          <div key={of}>
            <dt>{name}</dt>
            <dd>
              <strong>{figure}</strong> {of}
            </dd>
          </div>
        ))}
      </dl>
      {replicas > 1 ? (
        <p>
          This is gateway {replica} of {replicas}; each has its part of the slots, and drains for itself alone.
        </p>
      ) : null}
      {discoveryError === "" ? null : <p className={styles.problem}>The servers could not be looked up: {discoveryError}</p>}
    </div>
  );
}
