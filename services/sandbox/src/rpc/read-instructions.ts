import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { ReadInstructionsRequest, ReadInstructionsResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Owner } from "../domain/receipts.ts";
import { workspaceInstructions } from "../domain/workspace-instructions.ts";
import type { Domain } from "./routes.ts";

/** It leaves a caller with the usual deadline of 60 s time for the reading, and to be told that there was no room. */
const LONGEST_WAIT_MILLISECONDS = 45_000;

/** The instructions of a session's workspace, or of a folder that a person names. */
export async function readInstructions(
  parts: Pick<Domain, "sessions" | "prepared" | "placements">,
  owner: Owner,
  asked: ReadInstructionsRequest,
  context: HandlerContext,
): Promise<MessageInitShape<typeof ReadInstructionsResponseSchema>> {
  const milliseconds = Math.min(callContext(context).remainingMilliseconds() ?? LONGEST_WAIT_MILLISECONDS, LONGEST_WAIT_MILLISECONDS);
  const wait = { milliseconds, signal: context.signal };
  const { workspace, files, more, identity } = await workspaceInstructions(owner, asked, { ...parts, wait });
  return {
    workspace,
    files: files.map((file) => ({ file, sha256: file.refusal === "" ? sha256Hex(file.text) : "" })),
    more,
    identity,
  };
}
