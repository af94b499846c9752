import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ModelCapability, ModelTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CompactionSchema, SummaryMethod } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { assembleContext } from "@hlvm/service-orchestrator/src/domain/context/assemble-context.ts";
import { Conversation } from "@hlvm/service-orchestrator/src/domain/fold/conversation.ts";
import { eventPayload, type EventPayload } from "@hlvm/service-orchestrator/src/domain/log/event-payload.ts";
import { compilePrefix } from "@hlvm/service-orchestrator/src/domain/prompt/compile-prefix.ts";
import { getContext } from "@hlvm/service-orchestrator/src/domain/session/get-context.ts";
import { callId } from "@hlvm/service-orchestrator/src/domain/tools/call-id.ts";
import { beginTestRun } from "@hlvm/service-orchestrator/src/testing/begin-test-run.ts";
import { startAppendReplicas } from "./append-replicas.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const EVENTS = 50_000;
const EVENTS_A_TURN = 10;
const TURNS = 300;
const TIMES = 9;
const ada = { organization: "local", id: "user:ada", roles: ["developer"] } as const;
const limits = { outputReserveTokens: 4_096, compactionPercent: 75 };
const contextLimit = 300;
const assemblyLimit = 10;

const NO_FILES = { read: () => Promise.resolve(new Map<string, Uint8Array>()), size: () => Promise.resolve(0) };
/** What it takes to open, fold and show the context of a long session, and to assemble the prompt of every turn of a long run. */
export async function benchContext(): Promise<void> {
  const rows = [
    await measureSession("as it is without a compaction", undefined),
    await measureSession("compacted 100 turns before its end", 100),
  ];
  printTable(
    `A session of ${EVENTS} events, ${EVENTS / EVENTS_A_TURN} turns: open, fold, assemble and show its context, ${TIMES} times`,
    rows,
  );
  printTable(`The prompt of a run of ${TURNS} turns without a compaction, assembled before each`, [assembleTurns()]);
}

async function measureSession(what: string, keptTurns: number | undefined): Promise<Record<string, string | number>> {
  const { replicas, stop } = await startAppendReplicas(1, "apart");
  const { store, log } = replicas[0]!;
  try {
    const lease = await beginTestRun(store);
    let position = 2;
    for (let turn = 1; turn <= EVENTS / EVENTS_A_TURN; turn += 50) {
      const events = Array.from({ length: 50 }, (_, index) => turnEvents(lease.runId, turn + index)).flat();
      await log.append({ lease, principal: ada.id, position, events });
      position += events.length;
    }
    if (keptTurns !== undefined) {
      const compaction = create(CompactionSchema, {
        fromSequence: 3n,
        toSequence: BigInt(position - keptTurns * EVENTS_A_TURN),
        summary: "## Done: files were read.",
        method: SummaryMethod.MODEL,
        keptSequences: [1n, 2n],
      });
      const events = [{ turn: EVENTS / EVENTS_A_TURN, payload: eventPayload("compaction", compaction) }];
      await log.append({ lease, principal: ada.id, position, events });
    }
    const times: number[] = [];
    let fragments = 0;
    for (let time = 0; time < TIMES; time++) {
      const began = performance.now();
      fragments = (await getContext(ada, lease.sessionId, { store, log, attached: NO_FILES, contextLimits: limits })).fragments.length;
      times.push(performance.now() - began);
    }
    return {
      what,
      fragments,
      "p50 ms": quantile(times, 0.5),
      "first ms": times[0]!,
      "slowest ms": Math.max(...times),
      limit: contextLimit,
    };
  } finally {
    await stop();
  }
}

function assembleTurns(): Record<string, string | number> {
  const runId = randomUUID();
  const facts = { sessionId: "", owner: "", title: "", workspace: "/w", gitRepository: false, gitBranch: "", stateless: false };
  const model = { tier: ModelTier.FRONTIER, capability: ModelCapability.AGENT, contextWindow: 200_000 };
  const prefix = compilePrefix({ ...facts, secretKey: new Uint8Array(32) }, model);
  const conversation = new Conversation("a/b");
  conversation.add({ runId, turn: 0, payload: eventPayload("userMessage", { text: "q" }) });
  const times: number[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    const began = performance.now();
    assembleContext(prefix, conversation);
    times.push(performance.now() - began);
    for (const event of turnEvents(runId, turn)) conversation.add({ runId, ...event });
  }
  const first = times.slice(0, 50);
  const last = times.slice(-50);
  return {
    "p50 ms": quantile(times, 0.5),
    "p99 ms": quantile(times, 0.99),
    "first 50 turns": quantile(first, 0.5),
    "last 50 turns": quantile(last, 0.5),
    limit: assemblyLimit,
  };
}

/** A turn with one call, and what watchers see of it meanwhile. */
function turnEvents(runId: string, turn: number): { readonly turn: number; readonly payload: EventPayload }[] {
  const content = `line ${turn} of a file that is not very long\n`.repeat(20);
  const name = { callId: callId(runId, turn, 1), tool: "read_file" };
  const argumentsJson = `{"path":"file-${turn}"}`;
  const payloads = [
    eventPayload("thinking", {}),
    eventPayload("messageDelta", { text: `Step ${turn}.` }),
    eventPayload("assistantMessage", { text: `Step ${turn}.`, toolCalls: [{ id: `p${turn}`, tool: "read_file", argumentsJson }] }),
    eventPayload("toolSelected", { ...name, argumentsJson }),
    eventPayload("permissionCheck", name),
    eventPayload("toolStart", { ...name, argumentsJson }),
    eventPayload("toolOutput", { callId: name.callId, output: { text: content } }),
    eventPayload("toolEnd", { ...name, result: { success: true, content } }),
    eventPayload("turnStats", { inputTokens: 1_000n, estimatedInputTokens: 1_000n }),
    eventPayload("usageUpdate", {}),
  ];
  return payloads.map((payload) => ({ turn, payload }));
}
