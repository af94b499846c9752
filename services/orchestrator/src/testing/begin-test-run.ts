import { randomUUID } from "node:crypto";
import type { Lease } from "../domain/log/event-log.ts";
import { eventPayload } from "../domain/log/event-payload.ts";
import type { WorkerFacts } from "../domain/session/session.ts";
import type { SessionStore } from "../domain/session/session-store.ts";

export interface TestRun {
  readonly lease?: Lease;
  /** Resumed; a new session where there is none. */
  readonly sessionId?: string;
  readonly stateless?: boolean;
  readonly principal?: string;
  readonly worker?: WorkerFacts;
}

/** Begins a run in the store as `startRun` does, with its two first events, and nothing that executes it. */
export async function beginTestRun(store: SessionStore, run: TestRun = {}): Promise<Lease> {
  const { sessionId, stateless = false, lease: given, principal = "user:ada", worker } = run;
  const lease = given ?? { sessionId: sessionId ?? randomUUID(), runId: randomUUID(), owner: randomUUID() };
  const facts = {
    sessionId: lease.sessionId,
    owner: principal,
    title: "t",
    workspace: "/w",
    gitRepository: false,
    gitBranch: "",
    stateless,
    secretKey: new Uint8Array(32),
    worker,
  };
  await store.beginRun({
    organization: "local",
    principal,
    delegation: "signed",
    session: { isNew: sessionId === undefined, facts },
    lease,
    model: "a/b",
    events: [eventPayload("userMessage", { text: "q" }), eventPayload("runStarted", { model: "a/b" })],
    files: [],
  });
  return lease;
}
