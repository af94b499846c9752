import type { Principal } from "@hlvm/identity/principal";
import { ModelCapability, ModelTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CompactionCause, InstructionState, SummaryMethod, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { assembleContext, type AssembledContext, type Fragment } from "../context/assemble-context.ts";
import { tokenBudget, type ContextLimits, type TokenBudget } from "../context/token-budget.ts";
import { Conversation } from "../fold/conversation.ts";
import { agentOf } from "../fold/run-past.ts";
import { undoneRanges, type UndoneRange } from "../fold/without-undone.ts";
import type { EventLog } from "../log/event-log.ts";
import { compilePrefix } from "../prompt/compile-prefix.ts";
import type { AttachedFiles } from "./attached-files.ts";
import { withholdMemory } from "../sharing/withhold-memory.ts";
import { requireSession } from "./require-session.ts";
import type { SessionStore } from "./session-store.ts";

/** What is in the log and not before the model. */
export interface Dropped {
  readonly source: string;
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
  readonly why: string;
}

/** What the model would be given if it were asked now. */
export interface SeenContext {
  readonly model: string;
  readonly budget: TokenBudget;
  readonly tokens: number;
  readonly correction: number;
  readonly fragments: readonly Fragment[];
  readonly dropped: readonly Dropped[];
  readonly floor: TrustFloor | undefined;
}

export interface GetContextPorts {
  readonly store: SessionStore;
  readonly log: Pick<EventLog, "readContext" | "readUndone">;
  readonly attached: AttachedFiles;
  readonly contextLimits: ContextLimits;
}

/** For a run that began before its model was described in the log. */
const UNDESCRIBED = {
  tier: ModelTier.FRONTIER,
  capability: ModelCapability.AGENT,
  contextWindow: 0,
  takesImages: false,
  takesDocuments: false,
};

/**
 * Folds and assembles a session's log as a run does for its model.
 * @throws HlvmError `session_not_found`, also for whoever may not read it
 */
export async function getContext(principal: Principal, sessionId: string, ports: GetContextPorts): Promise<SeenContext> {
  const session = await requireSession(ports.store, principal, sessionId, "read");
  const [log, undone] = await Promise.all([ports.log.readContext(sessionId), ports.log.readUndone(sessionId)]);
  const events = withholdMemory(log, principal.id);
  const lastRun = events.findLast(({ payload }) => payload.case === "runStarted")?.payload;
  const model = (lastRun?.case === "runStarted" ? lastRun.value.resolvedModel : undefined) ?? UNDESCRIBED;
  const conversation = new Conversation(session.model, model);
  for (const event of events) conversation.add(event);
  const files = conversation.files();
  // A document takes tokens by its size.
  if (files.length > 0) conversation.fill(await ports.attached.read(sessionId, files));
  const assembled = assembleContext(compilePrefix(session, model, conversation.lastRun && agentOf(conversation.lastRun)), conversation);
  return {
    model: session.model,
    budget: tokenBudget(model.contextWindow, ports.contextLimits),
    tokens: assembled.tokens,
    correction: conversation.correction,
    ...shownFragments(assembled, conversation, undone),
    floor: conversation.floor,
  };
}

function shownFragments(
  assembled: AssembledContext,
  conversation: Conversation,
  undone: readonly Event[],
): Pick<SeenContext, "fragments" | "dropped"> {
  const fragments = assembled.fragments();
  const cut = fragments.flatMap(({ provenance: { source, sequence, result, cut: why } }): Dropped[] =>
    why === undefined || result?.isPutAside === true
      ? []
      : [
          {
            source: `a part of ${source} ${result?.argumentsSummary ?? ""}`.trim(),
            fromSequence: sequence,
            toSequence: sequence,
            why: `cut: it is ${why}`,
          },
        ],
  );
  const aside = fragments.flatMap(({ provenance: { source, sequence, result } }): Dropped[] =>
    result?.isPutAside === true
      ? [
          {
            source: `${source} ${result.argumentsSummary}`,
            fromSequence: sequence,
            toSequence: sequence,
            why: `put aside to save room (${result.length} characters); the model opens it with read_result`,
          },
        ]
      : [],
  );
  return {
    fragments,
    dropped: [...folded(conversation), ...withheld(conversation), ...aside, ...cut, ...undoneRanges(undone).map(ofUndone)],
  };
}

const WITHHELD: Partial<Record<InstructionState, string>> = {
  [InstructionState.UNTRUSTED]: "the workspace is not trusted",
  [InstructionState.CHANGED]: "it has changed since it was trusted",
};

function withheld({ instructions }: Conversation): Dropped[] {
  return instructions.withheld.map(({ path, state, reason, sequence }) => {
    const why = WITHHELD[state];
    const advice = "; hlvm trust add shows it and asks";
    return { source: `instructions ${path}`, fromSequence: sequence, toSequence: sequence, why: why === undefined ? reason : why + advice };
  });
}

function ofUndone({ after, before, toTurn, event }: UndoneRange): Dropped {
  const why = `undone by ${event.principal}: the conversation went back to ${toTurn === 0 ? "its beginning" : `its turn ${toTurn}`}`;
  return { source: toTurn === 0 ? "all up to there" : `all after turn ${toTurn}`, fromSequence: after + 1n, toSequence: before - 1n, why };
}

function folded({ compaction }: Conversation): Dropped[] {
  if (compaction === undefined || compaction.toSequence === 0n) return [];
  const { fromSequence, toSequence, turns, resultCount, cause, method, methodReason, tokensBefore, tokensAfter } = compaction;
  const why = cause === CompactionCause.OVERFLOW ? "the provider could not hold it" : "the context was too full";
  const how = method === SummaryMethod.MODEL ? "summarised by the model" : `summarised mechanically, since ${methodReason}`;
  const source = `${turns} turns with ${resultCount} results`;
  return [{ source, fromSequence, toSequence, why: `${why} (${tokensBefore} tokens, then ${tokensAfter}); ${how}` }];
}
