import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { postJson } from "./post-json.ts";

/**
 * Logs in through a browser anywhere: the person types a short code there (RFC 8628).
 * @param show gets where to type which code
 * @returns what the edge gave @throws HlvmError `device_denied`, `device_over`
 */
export async function deviceLogin(edge: URL, show: (where: string, code: string) => void, signal: AbortSignal) {
  const { body } = await postJson(new URL("/auth/device", edge), { label: hostname().slice(0, 100) || "a machine" });
  const { device_code: deviceCode, user_code: userCode = "", verification_uri: where = "" } = body;
  const seconds = Number(body.interval ?? 5);
  show(where, userCode);
  for (;;) {
    await delay(seconds * 1_000, undefined, { signal }).catch(givenUp);
    const asked = await postJson(new URL("/auth/device/token", edge), { device_code: deviceCode }).catch(unlessEarly);
    if (asked !== undefined && asked.status !== 202) return asked.body;
  }
}

/** Two machines do not count seconds alike; the next question comes later. */
function unlessEarly(thrown: unknown): undefined {
  if (thrown instanceof HlvmError && thrown.reason === "poll_slower") return undefined;
  throw thrown;
}

function givenUp(cause: unknown): never {
  throw new HlvmError({ code: "cancelled", reason: "login_given_up", message: "The login was given up.", cause });
}
