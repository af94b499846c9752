import { randomUUID } from "node:crypto";
import { Conversation } from "@hlvm/service-orchestrator/src/domain/fold/conversation.ts";
import { eventPayload, type EventPayload } from "@hlvm/service-orchestrator/src/domain/log/event-payload.ts";
import { searchWords } from "@hlvm/service-orchestrator/src/domain/log/search-words.ts";
import { forkSession } from "@hlvm/service-orchestrator/src/domain/session/fork-session.ts";
import { callId } from "@hlvm/service-orchestrator/src/domain/tools/call-id.ts";
import { startAppendReplicas } from "./append-replicas.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const EVENTS = 50_000;
/** A turn: an answer in pieces, a call, its output in pieces, its result, and what the turn used. */
const EVENTS_A_TURN = 100;
const TIMES = 21;
const ada = { organization: "local", id: "user:ada", roles: ["developer"] } as const;

/** How long a session of 50,000 events takes until the model's conversation is there, and what else is done with all of it. */
export async function benchLongSession(): Promise<void> {
  const { replicas, stop } = await startAppendReplicas(1, "apart");
  const { store, log } = replicas[0]!;
  try {
    const sessionId = randomUUID();
    const facts = { owner: ada.id, title: "long", workspace: "/w", gitRepository: false, gitBranch: "", stateless: false };
    const runId = randomUUID();
    const events = payloads(runId).map((payload, index) => ({ runId, turn: turnOf(index), at: new Date(), payload }));
    await store.createImported(ada.organization, { ...facts, sessionId, secretKey: new Uint8Array(32) }, events, []);
    let messages = 0;
    const open = async (): Promise<void> => {
      const session = await store.find(ada.organization, sessionId);
      const conversation = new Conversation("a/b");
      for (const event of await log.readConversation(session!.sessionId)) conversation.add(event);
      messages = conversation.messages().length;
    };
    const find = async (): Promise<void> => {
      const filter = {
        words: searchWords("needle"),
        archived: "without",
        workspace: "",
        model: "",
        withWorkers: false,
        workersOf: "",
      } as const;
      await store.listFor(ada, filter, 50);
    };
    const rows = [];
    for (const [what, limit, times, work] of [
      ["open and fold the conversation", 300, TIMES, open],
      ["find a word that was said once", "", TIMES, find],
      ["fork at the last event", "", 3, () => forkSession({ principal: ada, sessionId, at: 0, forkId: randomUUID() }, store)],
    ] as const) {
      const taken = await measure(times, work);
      rows.push({ what, "p50 ms": quantile(taken, 0.5), "most ms": Math.max(...taken), limit });
    }
    printTable(`A session of ${EVENTS} events, ${EVENTS / EVENTS_A_TURN} turns, ${messages} messages`, rows);
  } finally {
    await stop();
  }
}

async function measure(times: number, work: () => Promise<unknown>): Promise<number[]> {
  await work();
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const began = performance.now();
    await work();
    taken.push(performance.now() - began);
  }
  return taken;
}

function turnOf(index: number): number {
  return Math.floor(index / EVENTS_A_TURN) + 1;
}

function payloads(runId: string): EventPayload[] {
  return Array.from({ length: EVENTS }, (_, index) => {
    const turn = turnOf(index);
    const id = callId(runId, turn, 1);
    if (index === 0) return eventPayload("userMessage", { text: "Find the needle." });
    switch (index % EVENTS_A_TURN) {
      case 50: {
        const toolCalls = [{ id: `call-${turn}`, tool: "read_file", argumentsJson: `{"path":"file-${turn}.ts"}` }];
        return eventPayload("assistantMessage", { text: "I shall look at the next file. ".repeat(5), toolCalls });
      }
      case 98:
        return eventPayload("toolEnd", { callId: id, tool: "read_file", result: { success: true, content: "x".repeat(2_000) } });
      case 99:
        return eventPayload("usageUpdate", { usage: { inputTokens: 1_000n, outputTokens: 100n } });
      default:
        return eventPayload("messageDelta", { text: "Some words of an answer " });
    }
  });
}
