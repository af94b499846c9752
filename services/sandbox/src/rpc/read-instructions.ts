import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { ReadInstructionsRequest, ReadInstructionsResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { workspaceInstructions } from "../domain/workspace-instructions.ts";
import type { Domain } from "./routes.ts";

/** The instructions of a session's workspace, or of a folder that a person names. */
export async function readInstructions(
  parts: Pick<Domain, "sessions" | "prepared" | "placements">,
  asked: ReadInstructionsRequest,
  context: HandlerContext,
): Promise<MessageInitShape<typeof ReadInstructionsResponseSchema>> {
  const { principal } = callContext(context);
  const { workspace, files, more } = await workspaceInstructions(principal, asked, parts);
  return {
    workspace,
    files: files.map((file) => ({ file, sha256: file.refusal === "" ? sha256Hex(file.text) : "" })),
    more,
  };
}
