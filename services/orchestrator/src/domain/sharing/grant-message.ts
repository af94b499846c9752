import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  EverybodySchema,
  SessionGrantSchema,
  SessionRight,
  type SessionGrant as GrantMessage,
} from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import type { Grantee, SessionGrant } from "./session-grant.ts";

export const sessionRights = { view: SessionRight.VIEW, comment: SessionRight.COMMENT, drive: SessionRight.DRIVE, own: SessionRight.OWN };

/** A grant as the contracts have it. */
export function grantMessage(grant: Grantee & Pick<SessionGrant, "right"> & Partial<SessionGrant>): GrantMessage {
  const { kind, subject, right, grantedBy, grantedAt, until } = grant;
  const to = {
    member: { case: "principal", value: subject } as const,
    team: { case: "team", value: subject } as const,
    organization: { case: "everybody", value: create(EverybodySchema) } as const,
  }[kind];
  return create(SessionGrantSchema, {
    to,
    right: sessionRights[right],
    grantedBy,
    grantedAt: grantedAt && timestampFromDate(grantedAt),
    until: until && timestampFromDate(until),
  });
}
