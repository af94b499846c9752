import { setTimeout as sleep } from "node:timers/promises";
import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority/authority.ts";
import type { RecordedEvent } from "./audit-event.ts";
import type { AuditFilter } from "./audit-log.ts";
import type { AuditReports } from "./audit-reports.ts";
import { inWords, readingOf } from "./query-audit.ts";

const LOOK_MILLISECONDS = 500;
const PAGE = 500;
/** An event gets its id before it is committed: longer than a statement may take nobody waits for one. */
const SETTLED_MILLISECONDS = 20_000;
const HEARTBEAT_MILLISECONDS = 15_000;
const LIFETIME_MILLISECONDS = 600_000;

/**
 * Events of the caller's organization as they are committed, each once, oldest first as far as they are committed in order; an empty
 * page where nothing came for 15 seconds. That they are read is recorded once, and who reads has to ask again after ten minutes.
 * @param afterId 0n for those that come from now on
 * @throws HlvmError `role_missing`
 */
export async function* tailAudit(
  reports: AuditReports,
  principal: Principal,
  traceId: string,
  { filter, afterId, signal }: { readonly filter: AuditFilter; readonly afterId: bigint; readonly signal: AbortSignal },
): AsyncGenerator<readonly RecordedEvent[], void> {
  demandAuthority(principal, "read_audit");
  const { limit: _limit, ...which } = filter;
  const begun = await reports.beginTail(readingOf(principal, traceId, `tail ${inWords({ ...which, afterId })}`));
  const end = performance.now() + LIFETIME_MILLISECONDS;
  let settled = afterId === 0n ? begun : afterId;
  let heardAt = performance.now();
  const sent = new Set<bigint>();
  while (performance.now() < end) {
    signal.throwIfAborted();
    const settledBefore = Date.now() - SETTLED_MILLISECONDS;
    let from = settled;
    for (;;) {
      const page = await reports.after(principal.organization, filter, from, PAGE);
      const fresh = page.filter(({ id }) => !sent.has(id));
      for (const { id } of fresh) sent.add(id);
      if (fresh.length > 0) {
        heardAt = performance.now();
        yield fresh;
      }
      settled = page.findLast(({ at }) => Date.parse(at) < settledBefore)?.id ?? settled;
      if (page.length < PAGE) break;
      from = page.at(-1)!.id;
    }
    for (const id of sent) if (id <= settled) sent.delete(id);
    if (performance.now() - heardAt >= HEARTBEAT_MILLISECONDS) {
      heardAt = performance.now();
      yield [];
    }
    await sleep(LOOK_MILLISECONDS, undefined, { signal });
  }
}
