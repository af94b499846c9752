import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { CredentialKind, type LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { demandService } from "@hlvm/rpc/call-context";
import { currentTraceId } from "@hlvm/telemetry/trace-context";
import { beginDevice, redeemDevice } from "../domain/identity/device-login.ts";
import type { DeviceStore } from "../domain/identity/device-store.ts";
import { beginLogin, eventWriter, finishLogin, redeemCode, refreshLogin, takeLogin } from "../domain/identity/log-in.ts";
import type { LoginStore } from "../domain/identity/login-store.ts";
import { decodeMapping } from "./members.ts";
import type { MemberStore } from "../domain/identity/member-store.ts";

export interface LoginPorts {
  readonly logins: LoginStore;
  readonly devices: DeviceStore;
  readonly members: MemberStore;
}

/** Who did it, where the edge knows of nobody. */
const NOBODY = "service:edge";

/** How people log in: for the edge, in its own name. */
export function loginMethods({ logins, devices, members }: LoginPorts): ServiceImpl<typeof LoginService> {
  const traceOf = (context: HandlerContext): string => {
    demandService(context, "edge");
    return currentTraceId();
  };
  return {
    beginLogin: async ({ receiver, ...attempt }, context) => {
      traceOf(context);
      await beginLogin(logins, { ...attempt, ...(receiver === undefined ? {} : { receiver }) });
      return {};
    },
    takeLogin: async ({ stateSha256, browserSha256 }, context) => {
      traceOf(context);
      const { nonce, codeVerifier, returnTo, receiver } = await takeLogin(logins, stateSha256, browserSha256);
      return { nonce, codeVerifier, returnTo, receiver };
    },
    finishLogin: async ({ groups, secretSha256, receiver, organization, issuer, subject, name, email }, context) => {
      const traceId = traceOf(context);
      const said = { organization, issuer, subject, name: shown(name), email: shown(email) };
      const identified = { ...said, ...(groups === undefined ? {} : { groups: [...new Set(groups.names.map(shown))] }) };
      return { principal: await finishLogin(logins, identified, { sha256: secretSha256, receiver }, traceId) };
    },
    failLogin: async ({ organization, reason, subject }, context) => {
      const write = eventWriter(traceOf(context));
      const about = { reason, ...(subject === "" ? {} : { subject: shown(subject) }) };
      await logins.record(write("login_failed", { organization, principal: NOBODY }, about));
      return {};
    },
    resolveCredential: async ({ sha256, kind }, context) => {
      demandService(context, "edge");
      const letIn = await logins.resolve(sha256, kind === CredentialKind.BROWSER ? "browser" : "cli");
      if (letIn === undefined)
        throw new HlvmError({ code: "not_found", reason: "credential_not_found", message: "There is no such login, or it is over." });
      return { ...letIn, roles: [...letIn.roles], authenticatedAt: timestampFromDate(letIn.authenticatedAt) };
    },
    redeemCode: async ({ codeSha256, codeChallenge, accessSha256, refreshSha256 }, context) => {
      traceOf(context);
      const { principal, expiresAt } = await redeemCode(logins, codeSha256, codeChallenge, { accessSha256, refreshSha256 });
      return { principal, expiresAt: timestampFromDate(expiresAt) };
    },
    refreshCredential: async ({ refreshSha256, nextAccessSha256, nextRefreshSha256 }, context) => {
      const next = { accessSha256: nextAccessSha256, refreshSha256: nextRefreshSha256 };
      const { principal, expiresAt } = await refreshLogin(logins, refreshSha256, next, traceOf(context));
      return { principal, expiresAt: timestampFromDate(expiresAt) };
    },
    revokeCredential: async ({ sha256 }, context) => {
      await logins.revoke(sha256, eventWriter(traceOf(context)));
      return {};
    },
    beginDevice: async ({ organization, deviceSha256, label, address }, context) => {
      traceOf(context);
      const { userCode, expiresAt } = await beginDevice(devices, { organization, deviceSha256, label: shown(label), address });
      return { userCode, expiresAt: timestampFromDate(expiresAt) };
    },
    redeemDevice: async ({ deviceSha256, accessSha256, refreshSha256 }, context) => {
      const letIn = await redeemDevice(devices, deviceSha256, { accessSha256, refreshSha256 }, traceOf(context));
      return letIn === undefined ? {} : { principal: letIn.principal, expiresAt: timestampFromDate(letIn.expiresAt) };
    },
    bootstrapAdministrator: async ({ organization, email, mappings: given }, context) => {
      const write = eventWriter(traceOf(context));
      const by = { organization, principal: NOBODY };
      const mappings = given.map(decodeMapping).filter(({ kind }) => kind === "role");
      const events = [write("administrator_named", by, { email }), ...mappings.map((mapping) => write("group_mapped", by, { ...mapping }))];
      const principal = await members.nameAdministrator(organization, { email, mappings }, events);
      if (principal !== undefined) return { principal };
      throw new HlvmError({
        code: "failed_precondition",
        reason: "has_administrator",
        message: "There is an administrator already.",
        advice: "Ask them for the role: `hlvm member role add PRINCIPAL admin`.",
      });
    },
  };
}

/** What others say is kept as it is, but for characters that nobody sees. */
function shown(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}
