import type { AssistantMessage, Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Conversation } from "../fold/conversation.ts";
import type { TakenFiles } from "../fold/file-part.ts";
import { agentOf } from "../fold/run-past.ts";
import { GENERAL_AGENT, type RunAgent } from "../workers/run-agent.ts";

/** A turn of a recorded session, with what the model had before it. */
export interface RecordedTurn {
  readonly event: Event;
  readonly message: AssistantMessage;
  /** As it was before the answer; it goes on with the next turn. */
  readonly conversation: Conversation;
  readonly agent: RunAgent;
}

/**
 * The turns of a recording, in order. An answer that was cut is none: nobody knows what it would have called.
 * @param events all that count; see `EventLog.readRecorded`
 * @param model that will read their contexts
 */
export function* recordedTurns(events: readonly Event[], model: TakenFiles & { readonly id: string }): Generator<RecordedTurn, void> {
  const conversation = new Conversation(model.id, model);
  for (const event of events) {
    const { payload } = event;
    if (payload.case === "assistantMessage" && payload.value.finish !== undefined) {
      const agent = conversation.lastRun === undefined ? GENERAL_AGENT : agentOf(conversation.lastRun);
      yield { event, message: payload.value, conversation, agent };
    }
    conversation.add(event);
  }
}
