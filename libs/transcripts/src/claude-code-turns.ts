import { basename, dirname } from "node:path";
import { jsonRecords, listOf, objectOf, textOf, type JsonObject } from "./json-records.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

/** Records that say something about the session, and nothing in it. */
const OTHER = new Set([
  "system",
  "attachment",
  "progress",
  "summary",
  "tag",
  "lastPrompt",
  "last-prompt",
  "customTitle",
  "custom-title",
  "aiTitle",
  "ai-title",
  "file-history-snapshot",
  "queue-operation",
  "agent-name",
  "agent-setting",
  "mode",
  "permission-mode",
  "pr-link",
  "result",
  "rate_limit_event",
]);
const NOT_SAID =
  /^\s*(?:<local-command-(?:stdout|stderr|caveat)>|<session-start-hook>|<tick>|<goal>|\[Request interrupted by user)|<command-name>/;
const AGENT = /^agent-[\w-]+\.jsonl$/;

/**
 * Claude Code: `projects/<folder>/<session>.jsonl`, sub-agents below `<session>/subagents/`. A copied record keeps the key that it was
 * copied from. What a sub-agent is told was written by a model.
 */
export async function* claudeCodeTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  const agent = AGENT.test(basename(file)) ? basename(file, ".jsonl") : "";
  let session = basename(file, ".jsonl");
  const ours = new Set<string>();
  for await (const { value: record } of jsonRecords(file, tally)) {
    const title = textOf(record["customTitle"]) || textOf(record["aiTitle"]);
    const type = textOf(record["type"]);
    if (type !== "user" && type !== "assistant") {
      if (!OTHER.has(type)) tally.notUnderstood++;
      continue;
    }
    if (agent !== "") session = `${textOf(record["sessionId"]) || basename(dirname(dirname(file)))}/${agent}`;
    const common = { session, saidAt: timeOf(record["timestamp"]), folder: textOf(record["cwd"]), title: title || undefined };
    const key = textOf(objectOf(record["forkedFrom"])?.["messageUuid"]) || textOf(record["uuid"]);
    if (key === "" || record["isCompactSummary"] === true) continue;
    const speaker = type === "assistant" ? "assistant" : agent === "" && isPerson(record) ? "person" : "harness";
    let at = 0;
    for (const said of partsOf(record, speaker, ours))
      if (said.text !== "") yield { ...common, ...said, key: at++ === 0 ? key : `${key}#${at}` };
  }
}

function* partsOf(record: JsonObject, speaker: ReadTurn["speaker"], ours: Set<string>): Generator<Pick<ReadTurn, "speaker" | "text">> {
  const content = objectOf(record["message"])?.["content"];
  if (typeof content === "string") yield { speaker: NOT_SAID.test(content) ? "harness" : speaker, text: withoutInjected(content) };
  for (const block of listOf(content)) {
    const type = block["type"];
    const text = textOf(block["text"]);
    if (type === "text") yield { speaker: NOT_SAID.test(text) ? "harness" : speaker, text: withoutInjected(text) };
    else if (type === "tool_use") {
      const name = textOf(block["name"]);
      if (isOurTool(name)) ours.add(textOf(block["id"]));
      else yield { speaker: "tool", text: toolCallText(name, block["input"]) };
    } else if (type === "tool_result" && !ours.has(textOf(block["tool_use_id"]))) {
      const result = block["content"];
      const texts = typeof result === "string" ? [result] : listOf(result).map((part) => textOf(part["text"]));
      yield { speaker: "tool", text: withoutInjected(texts.join("\n")) };
    }
  }
}

/** An origin that is not known is not a person. */
function isPerson(record: JsonObject): boolean {
  const origin = objectOf(record["origin"]);
  if (origin !== undefined && origin["kind"] !== "human") return false;
  return (
    record["toolUseResult"] === undefined && record["isMeta"] !== true && record["isSidechain"] !== true && record["teamName"] === undefined
  );
}
