import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { RetentionScope as EncodedScope, type PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Person, PersonalData } from "../domain/privacy/personal-data.ts";
import type { Retention, RetentionScope, RetentionStore } from "../domain/privacy/retention.ts";

const SCOPES: Readonly<Record<RetentionScope, EncodedScope>> = {
  personal: EncodedScope.PERSONAL,
  team: EncodedScope.TEAM,
  project: EncodedScope.PROJECT,
  log: EncodedScope.LOG,
};

export interface PersonalDataPorts {
  readonly personalData: PersonalData;
  readonly retention: RetentionStore;
}

export function personalDataMethods({ personalData, retention }: PersonalDataPorts): ServiceImpl<typeof PersonalDataService> {
  return {
    exportPersonalData: async ({ principal, cursor }, context) => {
      const { records, nextCursor } = await personalData.exportPage(personOf(context, principal), cursor);
      return { records: [...records], nextCursor };
    },
    erasePersonalData: async ({ principal }, context) => {
      const counts = await personalData.erase(personOf(context, principal));
      return { counts: [...counts].map(([kind, count]) => ({ kind, count })) };
    },
    listRetention: async (_request, context) => {
      const { organization } = callContext(context).principal;
      return { retention: (await retention.list(organization)).map(encodeRetention) };
    },
    setRetention: async ({ scope, days }, context) => {
      const { organization, id } = administrator(context);
      const named = (Object.keys(SCOPES) as RetentionScope[]).find((name) => SCOPES[name] === scope)!;
      await retention.set(organization, named, days, id);
      return { retention: (await retention.list(organization)).map(encodeRetention) };
    },
  };
}

/** Oneself, or whom an administrator names; of the caller's organization in any case. */
function personOf(context: HandlerContext, wanted: string): Person {
  const { organization, id } = inPerson(context);
  if (wanted !== "" && wanted !== id) administrator(context);
  return { organization, principal: wanted === "" ? id : wanted };
}

function administrator(context: HandlerContext) {
  const principal = inPerson(context);
  if (principal.roles.includes("admin")) return principal;
  throw denied("role_missing", "That takes the role admin.", "Ask an administrator of your organization.");
}

function inPerson(context: HandlerContext) {
  const { principal, delegation } = callContext(context);
  if (delegation === undefined) return principal;
  throw denied("person_needed", "A run cannot do this for a person.", "Do it yourself, by `hlvm memory person`.");
}

function denied(reason: string, message: string, advice: string): HlvmError {
  return new HlvmError({ code: "permission_denied", reason, message, advice });
}

function encodeRetention({ scope, days, changedBy, changedAt }: Retention) {
  return { scope: SCOPES[scope], days, changedBy, changedAt: timestampFromDate(changedAt) };
}
