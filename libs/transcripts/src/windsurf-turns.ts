import { basename } from "node:path";
import { jsonRecords, objectOf, textOf, type JsonObject } from "./json-records.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

type Said = Pick<ReadTurn, "speaker" | "text">;

/**
 * Windsurf: `~/.windsurf/transcripts/<trajectory>.jsonl`, a step of Cascade's a line, without times, which it writes anew after each answer where
 * its hook `post_cascade_response_with_transcript` is on. Its own files are encrypted.
 */
export async function* windsurfTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  const session = basename(file, ".jsonl");
  for await (const { number, value } of jsonRecords(file, tally)) {
    const type = textOf(value["type"]);
    const step = objectOf(value[type]);
    if (step === undefined) {
      tally.notUnderstood++;
      continue;
    }
    const said = saidIn(type, step);
    if (said.text !== "") yield { ...said, session, key: String(number), saidAt: undefined };
  }
}

/** A step that is not known is what a tool did: they are named like `code_action`, and more come. */
function saidIn(type: string, step: JsonObject): Said {
  if (type === "user_input") return { speaker: "person", text: withoutInjected(textOf(step["user_response"])) };
  if (type === "planner_response") return { speaker: "assistant", text: withoutInjected(textOf(step["response"])) };
  return { speaker: "tool", text: isOurTool(textOf(step["tool_name"])) ? "" : withoutInjected(toolCallText(type, step)) };
}
