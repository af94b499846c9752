import { constants, type ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { BodyCollector } from "../wire/body-collector.ts";

/** The whole body of a request. @throws ConnectError ResourceExhausted where it is too large, Canceled where the caller went away */
export function readBody(stream: ServerHttp2Stream, maximumBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const received = new BodyCollector(maximumBytes);
    let isSettled = false;
    const fail = (reason: unknown): void => {
      isSettled = true;
      reject(reason);
    };
    stream.on("data", (chunk: Buffer) => {
      // What comes after a failure is read and dropped, so that the caller gets its answer.
      if (isSettled) return;
      try {
        received.push(chunk);
      } catch (thrown) {
        fail(thrown);
      }
    });
    stream.on("end", () => {
      // A stream that is cut ends too: what came so far is not the body.
      if (isSettled || stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
      isSettled = true;
      resolve(received.bytes());
    });
    stream.on("close", () => {
      if (!isSettled) fail(new ConnectError("The caller is gone.", Code.Canceled));
    });
  });
}
