import { createClient, type Client } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { ProviderKeySchema, ProviderKeyService, type ProviderKey } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";
import { readSecret } from "../terminal/read-secret.ts";

interface JsonFlags {
  readonly json?: boolean;
}

export async function modelKeyList(flags: JsonFlags, context: CommandContext): Promise<number> {
  const { keys, providers } = await inMesh(context, (client) => client.listProviderKeys({}));
  if (flags.json === true) for (const key of keys) process.stdout.write(jsonLine(messageJson(ProviderKeySchema, key)));
  else if (keys.length === 0)
    context.screen.note(`Your organization has given no keys. One is added by: hlvm model key add ${providers.join("|")}`);
  else process.stdout.write(table(["ID", "PROVIDER", "TEAM", "NAME", "ENDS", "GIVEN BY", "GIVEN"], keys.map(rowOf)));
  return EXIT_OK;
}

/** @param given whose key for which provider it is */
export async function modelKeyAdd(
  given: { readonly provider: string; readonly team?: string; readonly name?: string },
  flags: JsonFlags,
  context: CommandContext,
): Promise<number> {
  const secret = await readSecret(`the key for ${given.provider}`, context);
  if (secret === undefined) return EXIT_FAILED;
  const { key } = await inMesh(context, (client) => client.addProviderKey({ ...given, secret }));
  return tell(key!, "It counts for the next call, and is never shown again.", flags, context);
}

export async function modelKeyRotate(keyId: string, flags: JsonFlags, context: CommandContext): Promise<number> {
  const secret = await readSecret("the new key", context);
  if (secret === undefined) return EXIT_FAILED;
  const { key } = await inMesh(context, (client) => client.rotateProviderKey({ keyId, secret }));
  return tell(key!, "The new key counts for the next call: revoke the old one at the provider in a minute.", flags, context);
}

export async function modelKeyRemove(keyId: string, flags: JsonFlags, context: CommandContext): Promise<number> {
  await inMesh(context, (client) => client.removeProviderKey({ keyId }));
  if (flags.json === true) process.stdout.write(jsonLine({ key_id: keyId, removed: true }));
  else context.screen.note("It is removed. Revoke it at the provider, too.");
  return EXIT_OK;
}

function inMesh<T>(context: CommandContext, work: (client: Client<typeof ProviderKeyService>) => Promise<T>): Promise<T> {
  return withMesh(context, (transport) => work(createClient(ProviderKeyService, transport)));
}

function tell(key: ProviderKey, words: string, flags: JsonFlags, { screen }: CommandContext): number {
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(ProviderKeySchema, key)));
  else {
    const owner = key.team === "" ? "your organization" : `the team ${printableLine(key.team)}`;
    screen.note(`The key "${printableLine(key.name)}" of ${owner} for ${key.provider} is kept, encrypted. ${words}`);
    process.stdout.write(`${key.keyId}\n`);
  }
  return EXIT_OK;
}

function rowOf({ keyId, provider, team, name, ending, changedBy, createdAt, rotatedAt }: ProviderKey): string[] {
  return [
    keyId,
    provider,
    team === "" ? "all" : printableLine(team),
    printableLine(name),
    ending === "" ? "" : `…${ending}`,
    printableLine(changedBy),
    localTime(rotatedAt ?? createdAt),
  ];
}
