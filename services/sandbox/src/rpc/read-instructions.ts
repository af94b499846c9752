import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { ReadInstructionsRequest, ReadInstructionsResponseSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { Owner } from "../domain/receipts.ts";
import { workspaceInstructions } from "../domain/workspace-instructions.ts";
import type { Domain } from "./routes.ts";

/** The instructions of a session's workspace, or of a folder that a person names. */
export async function readInstructions(
  parts: Pick<Domain, "sessions" | "prepared" | "placements">,
  owner: Owner,
  asked: ReadInstructionsRequest,
): Promise<MessageInitShape<typeof ReadInstructionsResponseSchema>> {
  const { workspace, files, more, identity } = await workspaceInstructions(owner, asked, parts);
  return {
    workspace,
    files: files.map((file) => ({ file, sha256: file.refusal === "" ? sha256Hex(file.text) : "" })),
    more,
    identity,
  };
}
