import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { CancelSchema, type CarryRequest, type CarryResponse } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { UNREAD_LIMIT, weightOf } from "../wire/unread-limit.ts";
import type { CallLimits } from "./call-limits.ts";
import { NeverBegunError } from "./never-begun-error.ts";

type Kind = Exclude<CarryRequest["kind"], { case: undefined }>;

/** What a call needs of the stream that carries it. */
export interface CallLine {
  readonly send: (kind: Kind) => void;
  /** Called once: nothing more is said of the call. */
  readonly over: (isAnswered: boolean) => void;
}

/** A call that was begun: its answers as they come, no faster than they are read. */
export class CarriedCall {
  readonly #line: CallLine;
  readonly #stopWatch: () => void;
  #answers: Uint8Array[] = [];
  /** Of what was read, that the service was not told yet. */
  #untold = 0;
  #isOver = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(limits: CallLimits, line: CallLine) {
    this.#line = line;
    this.#stopWatch = limits.watch((reason) => {
      this.#answers = [];
      this.#leave(reason);
    });
  }

  receive({ answers, end }: CarryResponse): void {
    if (this.#isOver) return;
    this.#answers.push(...answers);
    if (end !== undefined) {
      if (end.neverBegun) this.#failure = new NeverBegunError(undefined);
      else if (end.errorJson.length > 0) this.#failure = errorOf(end.errorJson);
      this.#finish(true);
    }
    this.#wake?.();
  }

  /** The connection broke. */
  lose(reason: ConnectError): void {
    if (this.#isOver) return;
    this.#failure = reason;
    this.#finish(false);
    this.#wake?.();
  }

  /** The next answer; undefined after the last. @throws ConnectError where the call failed, was cancelled, timed out or lost */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer !== undefined) {
        this.#tellRead(answer);
        return answer;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Tells the service to stop, where the call is not over. */
  cancel(): void {
    if (!this.#isOver) this.#leave(new ConnectError("The caller left.", Code.Canceled));
  }

  #leave(reason: ConnectError): void {
    if (this.#isOver) return;
    this.#failure = reason;
    this.#line.send({ case: "cancel", value: create(CancelSchema) });
    this.#finish(false);
    this.#wake?.();
  }

  #finish(isAnswered: boolean): void {
    this.#isOver = true;
    this.#stopWatch();
    this.#line.over(isAnswered);
  }

  #tellRead(answer: Uint8Array): void {
    this.#untold += weightOf(answer);
    if (this.#isOver || this.#untold < UNREAD_LIMIT / 2) return;
    this.#line.send({ case: "read", value: this.#untold });
    this.#untold = 0;
  }
}

function errorOf(json: Uint8Array): ConnectError {
  const unreadable = new ConnectError("The service ended the call with an error that cannot be read.", Code.Internal);
  try {
    return errorFromJsonBytes(json, undefined, unreadable);
  } catch {
    return unreadable;
  }
}
