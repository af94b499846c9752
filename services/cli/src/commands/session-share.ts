import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  SessionGrantSchema,
  SessionRight,
  SessionRightSchema,
  SharingService,
  type SessionGrant,
} from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";

const RIGHTS = { view: SessionRight.VIEW, comment: SessionRight.COMMENT, drive: SessionRight.DRIVE } as const;
export const RIGHT_NAMES = Object.keys(RIGHTS) as (keyof typeof RIGHTS)[];

export interface SessionShareFlags {
  /** `user:NAME`, `team:NAME` or `organization`. */
  readonly with?: string;
  readonly right: keyof typeof RIGHTS;
  readonly until?: Date;
  readonly remove?: boolean;
  readonly json?: boolean;
}

type Grantee = NonNullable<MessageInitShape<typeof SessionGrantSchema>["to"]>;

/** Shares a session, takes that back, or tells with whom it is shared. */
export async function sessionShare(sessionId: string, flags: SessionShareFlags, context: CommandContext): Promise<number> {
  const to = flags.with === undefined ? undefined : granteeOf(flags.with);
  if (to === undefined && flags.remove === true)
    throw wrongUsage("With whom is it not to be shared any more?", "Give --with user:NAME, team:NAME or organization.");
  const { grants, existed } = await withMesh(context, async (transport) => {
    const sharing = createClient(SharingService, transport);
    let existed = true;
    if (to !== undefined && flags.remove === true) ({ existed } = await sharing.removeGrant({ sessionId, grant: { to } }));
    else if (to !== undefined) {
      const until = flags.until && timestampFromDate(flags.until);
      await sharing.putGrant({ sessionId, grant: { to, right: RIGHTS[flags.right], until } });
    }
    return { grants: (await sharing.listGrants({ sessionId })).grants, existed };
  });
  if (!existed) context.screen.note(`It was not shared with ${flags.with}.`, "warning");
  if (flags.json === true)
    process.stdout.write(grants.map((grant) => jsonLine({ type: "grant", ...messageJson(SessionGrantSchema, grant) })).join(""));
  else if (grants.length === 0) context.screen.note("It is shared with nobody.");
  else process.stdout.write(table(["WITH", "RIGHT", "UNTIL", "BY"], grants.map(row)));
  return EXIT_OK;
}

/** Offers a session to somebody, whose it is once they take it. */
export async function sessionHandOver(
  sessionId: string,
  { to, json }: { readonly to: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const grantee = granteeOf(to);
  const { grant } = await withMesh(context, (transport) =>
    createClient(SharingService, transport).putGrant({ sessionId, grant: { to: grantee, right: SessionRight.OWN } }),
  );
  if (json === true) process.stdout.write(jsonLine({ type: "grant", ...messageJson(SessionGrantSchema, grant!) }));
  else {
    context.screen.note(`It is offered to ${to}, who drives it from now on and takes it with:`);
    process.stdout.write(`hlvm session take ${sessionId}\n`);
  }
  return EXIT_OK;
}

/** Takes a session that its owner offered. */
export async function sessionTake(sessionId: string, flags: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const { formerOwner } = await withMesh(context, (transport) => createClient(SharingService, transport).takeSession({ sessionId }));
  if (flags.json === true) process.stdout.write(jsonLine({ type: "session_taken", session_id: sessionId, former_owner: formerOwner }));
  else
    context.screen.note(
      formerOwner === "" ? "It is yours already." : `It is yours. ${formerOwner} still drives it, until you say otherwise.`,
    );
  return EXIT_OK;
}

/** Says something about a session; its model does not see it. */
export async function sessionComment(
  sessionId: string,
  text: string,
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { sequence } = await withMesh(context, (transport) => createClient(SharingService, transport).comment({ sessionId, text }));
  if (flags.json === true) process.stdout.write(jsonLine({ type: "comment", session_id: sessionId, sequence: Number(sequence) }));
  else context.screen.note("It is said.");
  return EXIT_OK;
}

function granteeOf(given: string): Grantee {
  if (given === "organization") return { case: "everybody", value: {} };
  if (given.startsWith("team:")) return { case: "team", value: given.slice("team:".length) };
  if (given.startsWith("user:")) return { case: "principal", value: given };
  throw wrongUsage(`"${given}" is nobody.`, "Give --with user:NAME, team:NAME or organization.");
}

function row({ to, right, until, grantedBy }: SessionGrant): string[] {
  const named = to.case === "principal" ? to.value : to.case === "team" ? `team:${to.value}` : "organization";
  return [named, enumWord(SessionRightSchema, right), until === undefined ? "" : localTime(until), grantedBy];
}
