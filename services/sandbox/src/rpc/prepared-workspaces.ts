import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type {
  BeginUploadRequest,
  CloneWorkspaceRequest,
  CloneWorkspaceResponseSchema,
  FinishUploadRequest,
  UploadChunkRequest,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { PreparedWorkspaces } from "../domain/prepared/prepared-workspaces.ts";
import { movedError } from "./moved-error.ts";

export async function* cloneWorkspace(
  prepared: PreparedWorkspaces,
  request: CloneWorkspaceRequest,
  context: HandlerContext,
): AsyncGenerator<MessageInitShape<typeof CloneWorkspaceResponseSchema>> {
  const { principal, signal } = callContext(context);
  try {
    for await (const event of prepared.clone(principal, request, signal))
      yield { event: typeof event === "string" ? { case: "progress", value: event } : { case: "workspace", value: event } };
  } catch (thrown) {
    throw movedError(thrown);
  }
}

export async function beginUpload(prepared: PreparedWorkspaces, request: BeginUploadRequest, context: HandlerContext) {
  const { sessionId, name, head, snapshot, branch, shallow, sha256 } = request;
  const upload = { name, head, snapshot, branch, shallow, sha256, size: Number(request.size), image: request.image || undefined };
  return { received: BigInt(await prepared.beginUpload(callContext(context).principal, sessionId, upload)) };
}

export async function uploadChunk(prepared: PreparedWorkspaces, { sessionId, offset, data }: UploadChunkRequest, context: HandlerContext) {
  const chunk = { offset: Number(offset), data };
  return { received: BigInt(await prepared.receiveChunk(callContext(context).principal, sessionId, chunk)) };
}

export async function finishUpload(prepared: PreparedWorkspaces, { sessionId }: FinishUploadRequest, context: HandlerContext) {
  const { principal, signal } = callContext(context);
  return { workspace: await prepared.finishUpload(principal, sessionId, signal) };
}
