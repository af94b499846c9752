import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { checkFile, checkFilesTogether } from "@hlvm/attached-files/check-files";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { AttachmentSchema, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { isTaken } from "../fold/file-part.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { AttachedFile, AttachedFiles } from "./attached-files.ts";

const MEBIBYTE = 1024 * 1024;
const MOST_BYTES_OF_SESSION = 256 * MEBIBYTE;

export interface TakenAttachments {
  /** As events have them: without the bytes. */
  readonly attachments: readonly Attachment[];
  readonly files: readonly AttachedFile[];
}

/**
 * What came with a message, told from its bytes whatever the client says of it.
 * @throws HlvmError `attachment_not_readable`, `attachment_not_text`, `attachment_too_large`
 */
export function takeAttachments(given: readonly Attachment[]): TakenAttachments {
  const files: AttachedFile[] = [];
  const attachments = given.map(({ path, text, data }) => {
    if (data.length === 0) return create(AttachmentSchema, { path, text });
    const kind = checkFile(path, data);
    if (kind === undefined) throw notTaken(path);
    const sha256 = createHash("sha256").update(data).digest("hex");
    files.push({ sha256, mediaType: kind.mediaType, data });
    return create(AttachmentSchema, { path, sha256, size: data.length, ...kind });
  });
  checkFilesTogether(files.map(({ data }) => data.length));
  return { attachments, files };
}

/** @throws HlvmError `attachment_too_large` where a session would keep more than it may */
export async function requireRoom(sessionId: string, files: readonly AttachedFile[], attached: AttachedFiles): Promise<void> {
  if (files.length === 0) return;
  const kept = await attached.size(sessionId);
  const added = files.reduce((sum, { data }) => sum + data.length, 0);
  if (kept + added <= MOST_BYTES_OF_SESSION) return;
  throw new HlvmError({
    code: "resource_exhausted",
    reason: "attachment_too_large",
    message: `Session ${sessionId} has ${Math.round(kept / MEBIBYTE)} MB of images and documents; it may have ${MOST_BYTES_OF_SESSION / MEBIBYTE} MB.`,
    advice: "Put files into the workspace, where the agent reads them with its tools, or begin a new session.",
  });
}

/** @throws HlvmError `attachment_not_taken` where the model cannot be given one of them */
export function requireTaken(attachments: readonly Attachment[], model: Model): void {
  const refused = attachments.find(({ mediaType }) => mediaType !== "" && !isTaken(mediaType, model));
  if (refused === undefined) return;
  const what = refused.mediaType === "application/pdf" ? "PDF documents" : "images";
  throw new HlvmError({
    code: "failed_precondition",
    reason: "attachment_not_taken",
    message: `${model.id} takes no ${what}, and ${refused.path} is attached.`,
    advice: `Choose a model that takes ${what} with --model (\`hlvm model list\` shows the models), or ask without the file.`,
  });
}

export async function redactAttachments(attachments: readonly Attachment[], secrets: RunSecrets): Promise<Attachment[]> {
  const redacted: Attachment[] = [];
  for (const attachment of attachments)
    redacted.push({ ...attachment, path: secrets.redact(attachment.path), text: await secrets.redactInTurns(attachment.text) });
  return redacted;
}

function notTaken(path: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "attachment_not_text",
    message: `${path} is neither text in UTF-8 nor an image or document that can be attached.`,
    advice: "Attach text, PNG, JPEG, WebP or PDF; the agent can look at other files in the workspace with its tools.",
  });
}
