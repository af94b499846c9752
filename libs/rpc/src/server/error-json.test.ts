import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { expect, it } from "vitest";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { errorJson } from "./error-json.ts";

const NONE = new ConnectError("none", Code.Unknown);
const read = (json: Uint8Array): ConnectError => errorFromJsonBytes(json, undefined, NONE);
const refused = (message: string, advice: string): ConnectError =>
  new ConnectError(message, Code.InvalidArgument, undefined, [{ desc: ErrorAdviceSchema, value: { reason: "bad", advice } }]);

it("keeps an error as it is", () => {
  const error = read(errorJson(refused("No.", "Ask.")));
  expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: "No." });
  expect(error.findDetails(ErrorAdviceSchema)).toMatchObject([{ advice: "Ask." }]);
});

it.each([
  ["message", refused("m".repeat(1_000_000), "")],
  ["details", refused("m", "a".repeat(1_000_000))],
])("keeps of an error with a very large %s its code and the beginning of its message", (_, error) => {
  const json = errorJson(error);
  expect(json.length).toBeLessThan(32 * 1024);
  expect(read(json)).toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringMatching(/^m+$/) });
});
