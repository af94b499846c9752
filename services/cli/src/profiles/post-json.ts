import { HlvmError, type ErrorCode } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";

const DEADLINE_MILLISECONDS = 10_000;

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, string | undefined>>;
}

interface ErrorBody {
  readonly error?: { readonly message: string; readonly advice: string; readonly reason: string };
}

/** Asks an edge something that belongs to a login. @throws HlvmError as the edge says it; `edge_unavailable` */
export async function postJson(url: URL, body: Readonly<Record<string, unknown>>, authorization?: string): Promise<Answered> {
  let status: number;
  let answer: unknown;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
    });
    status = response.status;
    answer = await response.json();
  } catch (cause) {
    throw new HlvmError({
      code: "unavailable",
      reason: "edge_unavailable",
      message: `${url.origin} does not answer as an edge does: ${messageOf(cause)}.`,
      advice: "Check the address, and that HLVM is up there.",
      cause,
    });
  }
  if (status < 300) return { status, body: answer as Answered["body"] };
  const { error } = answer as ErrorBody;
  throw new HlvmError({
    code: codeOf(status),
    reason: error?.reason ?? "refused",
    message: error?.message ?? `${url.origin} answered ${status}.`,
    advice: error?.advice,
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "permission_denied";
  if (status === 404) return "not_found";
  if (status === 429) return "resource_exhausted";
  return status < 500 ? "failed_precondition" : "unavailable";
}
