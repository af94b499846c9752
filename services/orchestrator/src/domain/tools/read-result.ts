import { create } from "@bufbuild/protobuf";
import { Trust, ToolResultSchema, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { EventLog } from "../log/event-log.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { failedResult } from "./tool-result.ts";

const DEFAULT_LENGTH = 4_000;

/**
 * Opens a result of an earlier call of this session from its log, where secrets are replaced already: a piece of it, from an
 * offset on. It can be trusted as far as it could the first time.
 */
export async function readResult(
  { value }: Pick<ReadyCall, "value">,
  log: Pick<EventLog, "readResult">,
  sessionId: string,
): Promise<ToolResult> {
  const number = integerOf(value.result, 0);
  const offset = integerOf(value.offset, 0);
  const length = integerOf(value.limit, DEFAULT_LENGTH);
  const found = await log.readResult(sessionId, number);
  if (found?.result === undefined)
    return failedResult("not_found", `Event ${number} of this session is no result of a tool. The numbers are those in the pointers.`);
  const { content, trust } = found.result;
  if (offset > content.length)
    return failedResult("invalid_arguments", `The result has ${content.length} characters, and the offset is ${offset}.`);
  const piece = wholeCharacters(content, offset, length);
  const end = offset + piece.length;
  const isAll = offset === 0 && end === content.length;
  const place = `characters ${offset} to ${end} of ${content.length}`;
  const note = isAll ? "" : `\n[${place}${end < content.length ? `; go on with offset ${end}` : ""}]`;
  return create(ToolResultSchema, {
    success: true,
    content: `${piece}${note}`,
    summary: `${found.tool}: ${isAll ? `${content.length} characters` : place}`,
    resultBytes: BigInt(Buffer.byteLength(content)),
    truncated: end < content.length,
    trust: trust || Trust.VERIFIED,
  });
}

/** A piece that begins and ends between characters. */
function wholeCharacters(text: string, offset: number, length: number): string {
  return text.slice(offset, offset + length).replace(/[\uD800-\uDBFF]$/, "");
}

function integerOf(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}
