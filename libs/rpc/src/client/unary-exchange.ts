import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { BodyCollector } from "../wire/body-collector.ts";
import type { CallLimits } from "./call-limits.ts";
import { lostCall } from "./lost-call.ts";

export interface UnaryAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Sends one body and takes one back. @throws ConnectError where the call was cancelled, timed out or lost */
export function unaryExchange(stream: ClientHttp2Stream, body: Uint8Array, limits: CallLimits, maximumBytes: number): Promise<UnaryAnswer> {
  return new Promise((resolve, reject) => {
    const received = new BodyCollector(maximumBytes);
    let headers: IncomingHttpHeaders | undefined;
    let cause: NodeJS.ErrnoException | undefined;
    let isSettled = false;
    const fail = (reason: unknown): void => {
      if (isSettled) return;
      isSettled = true;
      stopWatch();
      reject(reason);
      if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
    };
    const stopWatch = limits.watch(fail);
    stream.on("response", (answer) => {
      headers = answer;
    });
    stream.on("data", (chunk: Buffer) => {
      try {
        received.push(chunk);
      } catch (thrown) {
        fail(thrown);
      }
    });
    stream.on("end", () => {
      if (headers === undefined || stream.rstCode !== constants.NGHTTP2_NO_ERROR || isSettled) return;
      const body = received.bytes();
      if (Number(headers["content-length"] ?? body.length) !== body.length) return;
      isSettled = true;
      stopWatch();
      resolve({ headers, body });
    });
    stream.on("error", (error) => {
      cause = error;
    });
    stream.on("close", () => {
      if (!isSettled) fail(lostCall(stream.rstCode, cause));
    });
    stream.end(body);
  });
}
