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
  "api-request",
  "api-request-shape",
  "api-request-blob",
  "atis-latch",
  "isolation-latch",
  "cost-state",
  "tools-used",
  "worktree-state",
]);
/** Of a prompt; all others are the harness's. A program that asks through the SDK asks what a person had it ask. */
const PEOPLE = new Set<unknown>([undefined, "human", "sdk", "unknown"]);
const NOT_SAID =
  /^\s*(?:<local-command-(?:stdout|stderr|caveat)>|<session-start-hook>|<tick>|<goal>|\[Request interrupted by user)|<command-name>/;
const AGENT = /^agent-[\w-]+\.jsonl$/;

/**
 * Claude Code: `projects/<folder>/<session>.jsonl`, sub-agents below `<session>/subagents/`. A copied record keeps the key that it was
 * copied from. What a sub-agent is told was written by a model. What a person says while the model works is an attachment.
 */
export async function* claudeCodeTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  const agent = AGENT.test(basename(file)) ? basename(file, ".jsonl") : "";
  let session = basename(file, ".jsonl");
  const ours = new Set<string>();
  for await (const { value: record } of jsonRecords(file, tally)) {
    const title = textOf(record["customTitle"]) || textOf(record["aiTitle"]);
    const type = textOf(record["type"]);
    const queued = type === "attachment" ? queuedPrompt(record) : undefined;
    if (type !== "user" && type !== "assistant" && queued === undefined) {
      if (!OTHER.has(type)) tally.notUnderstood++;
      continue;
    }
    if (agent !== "") session = `${textOf(record["sessionId"]) || basename(dirname(dirname(file)))}/${agent}`;
    const common = { session, saidAt: timeOf(record["timestamp"]), folder: textOf(record["cwd"]), title: title || undefined };
    const key = textOf(objectOf(record["forkedFrom"])?.["messageUuid"]) || textOf(record["uuid"]);
    if (key === "" || record["isCompactSummary"] === true) continue;
    const isPersons = agent === "" && isPerson(record) && (queued === undefined || isPerson(queued));
    const speaker = type === "assistant" ? (isError(record) ? "harness" : "assistant") : isPersons ? "person" : "harness";
    let at = 0;
    for (const said of partsOf(queued === undefined ? objectOf(record["message"])?.["content"] : queued["prompt"], speaker, ours))
      if (said.text !== "") yield { ...common, ...said, key: at++ === 0 ? key : `${key}#${at}` };
  }
}

/** Of what a compaction carries along, the first one was read. */
function queuedPrompt(record: JsonObject): JsonObject | undefined {
  const attachment = objectOf(record["attachment"]);
  return attachment?.["type"] === "queued_command" && attachment["carriedByCompaction"] !== true ? attachment : undefined;
}

/** What Claude Code itself says in a model's place: of calls that failed, for example. */
function isError(record: JsonObject): boolean {
  return record["isApiErrorMessage"] === true || objectOf(record["message"])?.["model"] === "<synthetic>";
}

function* partsOf(content: unknown, speaker: ReadTurn["speaker"], ours: Set<string>): Generator<Pick<ReadTurn, "speaker" | "text">> {
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

/** Set where a record of a person's form is none. */
const NOT_A_PERSONS = ["isMeta", "isSidechain", "isVirtual", "isVisibleInTranscriptOnly", "handedOff", "promptRewritten"];

/** An origin that is not known is not a person. */
function isPerson(said: JsonObject): boolean {
  const origin = objectOf(said["origin"]);
  if (origin !== undefined && origin["kind"] !== "human") return false;
  if (!PEOPLE.has(said["turnOrigin"]) || said["promptSource"] === "system" || (said["commandMode"] ?? "prompt") !== "prompt") return false;
  return said["toolUseResult"] === undefined && said["teamName"] === undefined && NOT_A_PERSONS.every((mark) => said[mark] !== true);
}
