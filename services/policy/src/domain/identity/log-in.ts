import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Identified, LetInCommand, LoginAttempt, LoginStore, LoopbackReceiver, TokenPair, WriteEvent } from "./login-store.ts";

/** Ten minutes long each: more than a company begins, and little enough to keep. */
const MOST_ATTEMPTS = 10_000;

/** Events of a call with this trace. */
export function eventWriter(traceId: string): WriteEvent {
  return (kind, { organization, principal }, about) => ({
    kind,
    at: new Date().toISOString(),
    organization,
    principal,
    arguments: canonicalJson(about),
    traceId,
  });
}

/** @throws HlvmError `too_many_logins` */
export async function beginLogin(store: LoginStore, attempt: LoginAttempt): Promise<void> {
  if (await store.begin(attempt, MOST_ATTEMPTS)) return;
  throw new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_logins",
    message: "More people are logging in right now than can be kept.",
    advice: "Try again in ten minutes.",
  });
}

/** @throws HlvmError `login_not_begun` where no login of this browser fits: a link of somebody else, or one that was used before */
export async function takeLogin(store: LoginStore, stateSha256: string, browserSha256: string): Promise<LoginAttempt> {
  const attempt = await store.take(stateSha256, browserSha256);
  if (attempt !== undefined) return attempt;
  throw new HlvmError({
    code: "permission_denied",
    reason: "login_not_begun",
    message: "This browser began no such login, it was finished already, or it took more than ten minutes.",
    advice: "Log in again.",
  });
}

/** @throws HlvmError `member_suspended` */
export async function finishLogin(
  store: LoginStore,
  identified: Identified,
  { sha256, receiver }: { readonly sha256: string; readonly receiver?: LoopbackReceiver },
  traceId: string,
): Promise<string> {
  const credential =
    receiver === undefined
      ? ({ sha256, kind: "browser", label: "" } as const)
      : ({ sha256, kind: "code", label: receiver.label, codeChallenge: receiver.codeChallenge } as const);
  const principal = await store.finish(identified, credential, eventWriter(traceId));
  if (principal !== undefined) return principal;
  throw new HlvmError({
    code: "permission_denied",
    reason: "member_suspended",
    message: "You are suspended here.",
    advice: "Ask an administrator of your organization to have you back.",
  });
}

/** @throws HlvmError `code_refused` */
export async function redeemCode(store: LoginStore, codeSha256: string, codeChallenge: string, next: TokenPair): Promise<LetInCommand> {
  const letIn = await store.redeem(codeSha256, codeChallenge, next);
  if (letIn !== undefined) return letIn;
  throw new HlvmError({
    code: "unauthenticated",
    reason: "code_refused",
    message: "This login was finished already, or is older than a minute.",
    advice: "Run `hlvm login URL` again.",
  });
}

/** @throws HlvmError `login_over`, `refresh_reused` */
export async function refreshLogin(store: LoginStore, refreshSha256: string, next: TokenPair, traceId: string): Promise<LetInCommand> {
  const letIn = await store.refresh(refreshSha256, next, eventWriter(traceId));
  if (letIn !== undefined && letIn !== "reused") return letIn;
  throw new HlvmError({
    code: "unauthenticated",
    reason: letIn === "reused" ? "refresh_reused" : "login_over",
    message:
      letIn === "reused"
        ? "This login was continued from somewhere else with the same refresh token, so it has ended everywhere."
        : "This login is over.",
    advice: "Run `hlvm login URL` again.",
  });
}
