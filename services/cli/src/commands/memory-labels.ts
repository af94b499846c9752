import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { CountModelWorkResponseSchema, ModelWorkService, type CountModelWorkResponse } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { MemoryWorkSchema, MemoryWorkService, type MemoryWork } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";

/** Whether a model may look at what memory holds of this person: lets it, ends it, or tells. */
export async function memoryLabels(
  what: "on" | "off" | "status",
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { work, waiting } = await withMesh(context, async (transport) => {
    const client = createClient(MemoryWorkService, transport);
    const answer = { on: () => client.allowMemoryWork({}), off: () => client.endMemoryWork({}), status: () => client.getMemoryWork({}) };
    const { work } = await answer[what]();
    return { work: work!, waiting: await createClient(ModelWorkService, transport).countModelWork({}) };
  });
  if (flags.json === true) {
    const counts = messageJson(CountModelWorkResponseSchema, waiting);
    process.stdout.write(jsonLine({ ...messageJson(MemoryWorkSchema, work), waiting: counts }));
  } else for (const line of workNotes(work, waiting)) context.screen.note(line);
  return EXIT_OK;
}

function workNotes(work: MemoryWork, { sessions, facts, setAside }: CountModelWorkResponse): string[] {
  const { model, isAllowed, until, stored, refused, pausedReason, pausedUntil } = work;
  if (!isAllowed) return ["No model looks at your sessions and facts. To let one: hlvm memory labels on"];
  if (model === "") return ["You let a model look, and this mesh is set up with none: HLVM_MEMORY_MODEL names one."];
  return [
    `${model} labels your sessions and finds what your facts are about, until ${localTime(until)}; a scan renews that.`,
    `${stored} answers were stored, ${refused} refused; ${sessions} sessions and ${facts} facts wait, ${setAside} are set aside.`,
    ...(pausedReason === "" ? [] : [`Nothing is asked until ${localTime(pausedUntil)}: ${pausedReason}`]),
  ];
}
