import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { postJson } from "./post-json.ts";

/** In a row; then the edge is not only busy, or started again. */
const MOST_FAILURES = 5;

/**
 * Logs in through a browser anywhere: the person types a short code there (RFC 8628).
 * @param show gets where to type which code
 * @returns what the edge gave @throws HlvmError `device_denied`, `device_over`, and `edge_unavailable` where it stays so
 */
export async function deviceLogin(edge: URL, show: (where: string, code: string) => void, signal: AbortSignal) {
  const { body } = await postJson(new URL("/auth/device", edge), { label: hostname().slice(0, 100) || "a machine" });
  const { device_code: deviceCode, user_code: userCode = "", verification_uri: where = "" } = body;
  const seconds = Number(body.interval ?? 5);
  show(where, userCode);
  for (let failures = 0; ;) {
    await delay(seconds * 1_000, undefined, { signal }).catch(givenUp);
    try {
      const asked = await postJson(new URL("/auth/device/token", edge), { device_code: deviceCode });
      if (asked.status !== 202) return asked.body;
      failures = 0;
    } catch (thrown) {
      if (!(thrown instanceof HlvmError)) throw thrown;
      // Two machines do not count seconds alike: the next question comes later.
      if (thrown.reason === "poll_slower") continue;
      if (thrown.code !== "unavailable" || ++failures > MOST_FAILURES) throw thrown;
    }
  }
}

function givenUp(cause: unknown): never {
  throw new HlvmError({ code: "cancelled", reason: "login_given_up", message: "The login was given up.", cause });
}
