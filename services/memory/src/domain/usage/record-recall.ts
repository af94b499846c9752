import { redactSecrets } from "../redact-secrets.ts";
import type { Fact } from "../fact.ts";
import type { Viewer } from "../viewer.ts";
import type { RecallEntry, UsageLog } from "./usage-log.ts";

const QUERY_CHARACTERS = 300;

export interface Asked extends Pick<RecallEntry, "kind" | "sessionId" | "runId" | "query"> {
  /** By `performance.now()`. */
  readonly begun: number;
}

/** Puts on record what was asked of memory and what that showed. */
export async function recordRecall(usage: UsageLog, viewer: Viewer, { begun, ...asked }: Asked, shown: readonly Fact[]): Promise<void> {
  const query = redactSecrets(asked.query).slice(0, QUERY_CHARACTERS);
  const milliseconds = performance.now() - begun;
  await usage.recordRecall(viewer, { ...asked, query, shown: shown.map(({ id }) => id), milliseconds, project: viewer.project });
}
