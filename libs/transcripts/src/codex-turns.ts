import { basename } from "node:path";
import { jsonRecords, listOf, objectOf, textOf, type JsonObject } from "./json-records.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { toolCallText } from "./tool-text.ts";
import { isOurTool, withoutInjected } from "./without-injected.ts";

type Said = Pick<ReadTurn, "speaker" | "text">;

const KNOWN = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
  "inter_agent_communication",
  "ghost_snapshot",
  "token_usage_record",
]);
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/**
 * Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`. What people and the model said comes from events alone, since among the
 * response items of role user are those that the harness wrote; tools come from the response items.
 */
export async function* codexTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  let session = ID.exec(basename(file))?.[0] ?? basename(file);
  let folder = "";
  const ours = new Set<string>();
  for await (const { number, value } of jsonRecords(file, tally)) {
    const payload = objectOf(value["payload"]);
    const type = textOf(value["type"]);
    if (payload === undefined || !KNOWN.has(type)) {
      tally.notUnderstood++;
      continue;
    }
    if (type === "session_meta") {
      session = textOf(payload["id"]) || session;
      folder = textOf(payload["cwd"]);
    }
    const said = type === "event_msg" ? fromEvent(payload) : type === "response_item" ? fromItem(payload, ours) : undefined;
    if (said === undefined || said.text === "") continue;
    const ordinal = value["ordinal"];
    yield { ...said, session, folder, key: String(typeof ordinal === "number" ? ordinal : number), saidAt: timeOf(value["timestamp"]) };
  }
}

/** Older files have an event a message, newer ones items that were completed. */
function fromEvent(payload: JsonObject): Said | undefined {
  const item = payload["type"] === "item_completed" ? objectOf(payload["item"]) : undefined;
  const kind = textOf((item ?? payload)["type"])
    .toLowerCase()
    .replaceAll("_", "");
  const texts = [
    textOf((item ?? payload)["message"]),
    textOf(item?.["text"]),
    ...listOf(item?.["content"]).map((part) => textOf(part["text"])),
  ];
  const text = withoutInjected(texts.filter((part) => part !== "").join("\n"));
  if (kind === "usermessage") return { speaker: "person", text };
  return kind === "agentmessage" ? { speaker: "assistant", text } : undefined;
}

function fromItem(item: JsonObject, ours: Set<string>): Said | undefined {
  const id = textOf(item["call_id"]);
  switch (item["type"]) {
    case "function_call":
    case "custom_tool_call": {
      const name = textOf(item["name"]);
      if (isOurTool(name)) ours.add(id);
      return ours.has(id) ? undefined : { speaker: "tool", text: toolCallText(name, item["arguments"] ?? item["input"]) };
    }
    case "local_shell_call":
      return { speaker: "tool", text: toolCallText("shell", item["action"]) };
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = item["output"];
      const text = typeof output === "string" ? output : textOf(objectOf(output)?.["content"]) || JSON.stringify(output ?? "");
      return ours.has(id) ? undefined : { speaker: "tool", text: withoutInjected(text) };
    }
    default:
      return undefined;
  }
}
