import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PageLogins } from "../domain/page-logins.ts";
import type { Admitted, Admission } from "./admission.ts";
import { isLoopbackHostHeader } from "./loopback-host.ts";
import { sendSecret, swapCode } from "./page-login.ts";
import { hostOf } from "./request-host.ts";
import type { Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

/** Local mode: one user, who has the token file, and a page that swaps a code for a token of its own. */
export class LocalAdmission implements Admission {
  readonly #logins: PageLogins;
  readonly endpoints: Admission["endpoints"];

  constructor(logins: PageLogins) {
    this.#logins = logins;
    this.endpoints = { "POST /auth/code": (_, response, caller) => sendSecret(response, { code: logins.issueCode(caller) }) };
  }

  checkHost(request: Request): void {
    if (isLoopbackHostHeader(hostOf(request))) return;
    throw new HlvmError({
      code: "permission_denied",
      reason: "host_refused",
      message: "The request is addressed to a name that is not this machine's own.",
      advice: "Call 127.0.0.1 or localhost: local mode serves this machine only.",
    });
  }

  async answer(request: Request, response: Response): Promise<boolean> {
    if (request.method !== "POST" || request.url?.split("?", 1)[0] !== "/auth/token") return false;
    await swapCode(request, response, this.#logins);
    return true;
  }

  async admit({ headers: { authorization } }: Request): Promise<Admitted> {
    const check = () => this.#logins.authenticate(authorization);
    return { caller: await check(), check };
  }
}
