import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  ContextKindSchema,
  GetContextResponseSchema,
  SessionService,
  type ContextFragment,
  type DroppedFragment,
  type GetContextResponse,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust, TrustSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printable } from "../terminal/printable.ts";

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

/** Everything that a session's model has before it, and what of the log it has not. */
export async function sessionContext(sessionId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const seen = await withMesh(context, (transport) => createClient(SessionService, transport).getContext({ sessionId }));
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(GetContextResponseSchema, seen)));
  else process.stdout.write(render(seen, Date.now()));
  return EXIT_OK;
}

function render(seen: GetContextResponse, now: number): string {
  const { model, tokens, contextWindow, outputReserve, compactionThreshold, fragments, dropped, trustFloor } = seen;
  const heading = `${model} · ${tokens} tokens of ${contextWindow}, ${outputReserve} of them kept for the answer · compacted from ${compactionThreshold}\n`;
  const isExternal = trustFloor?.trust === Trust.EXTERNAL;
  const warning = isExternal ? `external content is in it: ${printable(trustFloor.source)}; what reaches outside is asked for\n` : "";
  const rows = table(
    ["EVENT", "SOURCE", "TRUST", "KIND", "AGE", "TOKENS", "BEGINS"],
    fragments.map((one) => fragmentRow(one, now)),
  );
  const left = dropped.length === 0 ? "" : `\n${table(["EVENTS", "NOT IN IT", "WHY"], dropped.map(droppedRow))}`;
  return `${heading}${warning}\n${rows}${left}`;
}

function fragmentRow({ sequence, source, trust, kind, at, tokens, preview }: ContextFragment, now: number): string[] {
  const age = at === undefined ? "" : ageOf((now - timestampDate(at).getTime()) / 1_000);
  const event = sequence === 0n ? "" : String(sequence);
  const trustWord = enumWord(TrustSchema, trust).replaceAll("_", "-");
  return [event, printable(source), trustWord, enumWord(ContextKindSchema, kind), age, String(tokens), printable(preview)];
}

function droppedRow({ fromSequence, toSequence, source, why }: DroppedFragment): string[] {
  const events = fromSequence === toSequence ? String(fromSequence) : `${fromSequence}-${toSequence}`;
  return [events, printable(source), printable(why)];
}

function ageOf(seconds: number): string {
  const unit = UNITS.find(([length]) => seconds >= length);
  return unit === undefined ? `${Math.max(0, Math.floor(seconds))} s` : `${Math.floor(seconds / unit[0])} ${unit[1]}`;
}
