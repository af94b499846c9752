import { enumWord } from "@hlvm/ndjson/enum-word";
import { eventType } from "@hlvm/ndjson/event-type";
import { DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  TurnReplayed_AgreementSchema,
  type AssistantMessage,
  type CallReplayed,
  type Event,
  type TurnReplayed,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { InfoItem, InfoTopic } from "./item.ts";

type Info = Pick<InfoItem, "kind" | "topic" | "text" | "detail" | "otherSessionId">;

/** The line of an event that has no item of its own; undefined where there is nothing to say. */
export function infoOf(event: Event): Info | undefined {
  const { payload } = event;
  switch (payload.case) {
    case "compaction": {
      const { tokensBefore, tokensAfter, turns, summary } = payload.value;
      const what = turns > 0 ? `${turns} ${turns === 1 ? "turn" : "turns"} summarised` : "results put aside";
      return info("compaction", `Context shortened: ${tokensBefore} tokens became ${tokensAfter}, ${what}`, summary);
    }
    case "runTakenOver":
      return info("takeover", "The process that held this run ended; another one goes on with it");
    case "runQueued":
      return info("queue", "As many runs are under way as the server takes; this one waits until another has ended");
    case "sessionTaken": {
      const [from, to] = [payload.value.formerOwner, event.principal].map((one) => one.replace(/^user:/, ""));
      return info("handover", `Handed over by ${from} to ${to}`);
    }
    case "sessionForked":
      return {
        ...info("fork", "Forked from another session", `up to its event ${payload.value.parentSequence}`),
        otherSessionId: payload.value.parentSessionId,
      };
    case "sessionImported":
      return info("import", "What follows was read from a file, and proves nothing");
    case "conversationUndone": {
      const { toTurn, restoredPaths, keptPaths } = payload.value;
      const paths = [...restoredPaths.map((path) => `back: ${path}`), ...keptPaths.map((path) => `kept: ${path}`)];
      return info("undo", `Undone: back to turn ${toTurn}`, paths.join("\n"));
    }
    case "callReplayed":
      return callReplayed(payload.value);
    case "turnReplayed":
      return turnReplayed(payload.value);
    case undefined:
      return event.$unknown === undefined ? undefined : info("unknown", "Something happened here that only a newer version can show");
    default:
      return info("unknown", eventType(payload.case).replaceAll("_", " "));
  }
}

/** Of an answer that another model gave. */
export function servedBy({ servedBy: model, servedWhy }: AssistantMessage): Info | undefined {
  return model === "" ? undefined : info("fallback", `${model} answered in the place of this run's model`, servedWhy);
}

/** Of an answer whose connection was lost. */
export function resumed({ resumed: times }: AssistantMessage): Info | undefined {
  return times === 0 ? undefined : info("resumption", "The connection to the model was lost, and the answer went on");
}

function callReplayed({ tool, argumentsSummary, recorded, now }: CallReplayed): Info {
  const [then, today] = [recorded, now].map((ruled) => (ruled === undefined ? "not decided" : enumWord(DecisionSchema, ruled.decision)));
  const why = now === undefined || then === today ? "" : [now.rule, now.reason].filter((part) => part !== "").join(": ");
  return info("replay", `Replayed ${tool} ${argumentsSummary}: ${then === today ? `still ${then}` : `${then} then, ${today} now`}`, why);
}

function turnReplayed({ turn, proposed, agreement, failure, text }: TurnReplayed): Info {
  if (failure !== "") return info("replay", `Replayed turn ${turn}: ${failure}`);
  const calls = proposed.length === 0 ? "no call" : proposed.map(({ tool }) => tool).join(", ");
  return info("replay", `Replayed turn ${turn}: ${enumWord(TurnReplayed_AgreementSchema, agreement)}, would call ${calls}`, text);
}

function info(topic: InfoTopic, text: string, detail = ""): Info {
  return { kind: "info", topic, text, detail, otherSessionId: "" };
}
