import type { Caller } from "../domain/authenticator.ts";
import type { Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

/** Who sends a request, and how one finds out later whether they still may. */
export interface Admitted {
  readonly caller: Caller;
  /** @throws HlvmError `unauthenticated` where they would not be let in any more */
  readonly check: () => Promise<Caller>;
}

/** How requests get in: the one user of this machine, or the people of a company. */
export interface Admission {
  /** Before anything else, on every path. @throws HlvmError `host_refused` */
  checkHost(request: Request): void;
  /** What is there for anybody. @returns whether it answered */
  answer(request: Request, response: Response): Promise<boolean>;
  /** @throws HlvmError `unauthenticated`; `unavailable` where nobody can tell now */
  admit(request: Request): Promise<Admitted>;
  /** What is there for who has been let in, by method and path. */
  readonly endpoints: Readonly<Record<string, (request: Request, response: Response, caller: Caller) => Promise<void> | void>>;
}
