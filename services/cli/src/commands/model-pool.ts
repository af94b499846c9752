import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  InstanceState,
  InstanceStateSchema,
  ListPoolResponseSchema,
  PoolInstanceSchema,
  PoolService,
  type ListPoolResponse,
  type PoolInstance,
} from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";

const HEADINGS = ["SERVER", "STATE", "SINCE", "MODELS", "BUSY", "SLOTS", "ANSWERS", "CACHE (EXPECTED)", "WHY"];

/** The exit code is 1 where a server is not ready. */
export async function modelPool(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const pool = await withMesh(context, (transport) => createClient(PoolService, transport).listPool({}));
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(ListPoolResponseSchema, pool)));
  else if (pool.instances.length === 0 && pool.discoveryError === "")
    context.screen.note("There is no llama-server: HLVM_LLAMA_URLS names them, before the mesh starts.");
  else {
    process.stdout.write(table(HEADINGS, pool.instances.map(rowOf)));
    for (const note of notes(pool)) context.screen.note(note);
  }
  return pool.instances.every(({ state }) => state === InstanceState.READY) ? EXIT_OK : EXIT_FAILED;
}

/** Has a server take no more requests, or take them again. */
export async function modelPoolChange(
  { name, url }: { readonly name: "drain" | "resume"; readonly url: string },
  flags: { json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { instance, pool } = await withMesh(context, async (transport) => {
    const client = createClient(PoolService, transport);
    const changed = await (name === "drain" ? client.drainInstance({ url }) : client.resumeInstance({ url }));
    return { instance: changed.instance!, pool: await client.listPool({}) };
  });
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(PoolInstanceSchema, instance)));
  else {
    context.screen.note(
      name === "drain" ? `It gets no new requests, and is at ${instance.inFlight} still.` : `It is ${stateOf(instance)} again.`,
    );
    if (pool.replicas > 1)
      context.screen.note(
        `Only gateway ${pool.replica} of ${pool.replicas} was told: for all of them take it out of the file of HLVM_LLAMA_URLS_FILE.`,
        "warning",
      );
  }
  return EXIT_OK;
}

function rowOf(instance: PoolInstance): string[] {
  const { url, since, models, inFlight, inFlightElsewhere, ownSlots, slots, answers, lastError } = instance;
  const percent = (part: bigint): string =>
    instance.promptTokens === 0n ? "" : `${Math.round((Number(part) / Number(instance.promptTokens)) * 100)}%`;
  return [
    url,
    stateOf(instance),
    since === undefined ? "" : localTime(since),
    models.map(({ name }) => name).join(" "),
    inFlightElsewhere === 0 ? String(inFlight) : `${inFlight}+${inFlightElsewhere}`,
    ownSlots === slots ? String(slots) : `${ownSlots}/${slots}`,
    String(answers),
    instance.promptTokens === 0n ? "" : `${percent(instance.cachedTokens)} (${percent(instance.expectedCachedTokens)})`,
    lastError,
  ];
}

function stateOf({ state }: PoolInstance): string {
  return enumWord(InstanceStateSchema, state);
}

function notes({ queuedInteractive, queuedBatch, replica, replicas, discoveryError }: ListPoolResponse): string[] {
  return [
    `Waiting: ${queuedInteractive} interactive, ${queuedBatch} batch.`,
    ...(replicas > 1 ? [`This is gateway ${replica} of ${replicas}; each has its part of the slots.`] : []),
    ...(discoveryError === "" ? [] : [`The servers could not be looked up: ${discoveryError}`]),
  ];
}
