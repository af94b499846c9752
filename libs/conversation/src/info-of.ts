import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { InstructionState } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventType } from "@hlvm/ndjson/event-type";
import type { InfoItem } from "./item.ts";

type Info = Pick<InfoItem, "kind" | "text" | "detail" | "otherSessionId">;

/** Events that are no news to a person: they are figures, or another event says the same. */
const SILENT: ReadonlySet<string | undefined> = new Set(["turnStats", "reminder"]);

/** The line of an event that has no item of its own; undefined where there is nothing to say. */
export function infoOf(event: Event): Info | undefined {
  const { payload } = event;
  switch (payload.case) {
    case "compaction": {
      const { tokensBefore, tokensAfter, turns, summary } = payload.value;
      const what = turns > 0 ? `${turns} turns summarised` : "results put aside";
      return info(`Context shortened: ${tokensBefore} tokens became ${tokensAfter}, ${what}`, summary);
    }
    case "runTakenOver":
      return info("The process that held this run ended; another one goes on with it");
    case "sessionTaken":
      return info(`Handed over by ${payload.value.formerOwner.replace(/^user:/, "")} to ${event.principal.replace(/^user:/, "")}`);
    case "sessionForked":
      return info("Forked from another session", `up to its event ${payload.value.parentSequence}`, payload.value.parentSessionId);
    case "sessionImported":
      return info("What follows was read from a file, and proves nothing");
    case "conversationUndone": {
      const { toTurn, restoredPaths, keptPaths } = payload.value;
      const paths = [...restoredPaths.map((path) => `back: ${path}`), ...keptPaths.map((path) => `kept: ${path}`)];
      return info(`Undone: back to turn ${toTurn}`, paths.join("\n"));
    }
    case "instructionsLoaded": {
      const { files, notice } = payload.value;
      const [loaded, left] = [InstructionState.LOADED, undefined].map((state) =>
        files.filter((file) => (file.state === InstructionState.LOADED) === (state !== undefined)).map(({ path }) => path),
      ) as [string[], string[]];
      const parts = [
        loaded.length > 0 ? `Instructions read: ${loaded.join(", ")}` : "",
        left.length > 0 ? `left out: ${left.join(", ")}` : "",
        notice,
      ];
      const text = parts.filter((part) => part !== "").join("; ");
      return text === "" ? undefined : info(text);
    }
    case "workerSpawned": {
      const { agentType, task, childSessionId } = payload.value;
      return info(`Worker started: ${agentType}`, task, childSessionId);
    }
    case "workerCompleted": {
      const { agentType, success, turns, filesTouched, childSessionId } = payload.value;
      return info(`Worker ${success ? "done" : "failed"}: ${agentType}, ${turns} turns`, filesTouched.join("\n"), childSessionId);
    }
    case undefined:
      return event.$unknown === undefined ? undefined : info("Something happened here that only a newer version can show");
    default:
      return SILENT.has(payload.case) ? undefined : info(eventType(payload.case).replaceAll("_", " "));
  }
}

function info(text: string, detail = "", otherSessionId = ""): Info {
  return { kind: "info", text, detail, otherSessionId };
}
