import { Code, ConnectError } from "@connectrpc/connect";

/** The peer, which is on its way out, refused the call before it began: it may be made again. */
export class NeverBegunError extends ConnectError {
  readonly #isNeverBegun = true;

  constructor(cause: unknown) {
    super("The peer refused the call before it began (REFUSED_STREAM).", Code.Unavailable, undefined, undefined, cause);
  }

  /** In place of `instanceof`, which ConnectError widens to everything of its name. */
  static is(thrown: unknown): boolean {
    return typeof thrown === "object" && thrown !== null && #isNeverBegun in thrown && thrown.#isNeverBegun;
  }
}
