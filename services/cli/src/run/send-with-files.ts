import { create } from "@bufbuild/protobuf";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { AttachmentSchema, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { describeImage } from "../options/pasted-images.ts";
import { checkMediaTogether, readAttachments, type Attached, type AttachedMedia } from "../options/read-attachments.ts";
import type { Screen } from "../terminal/screen.ts";

/** What goes with a question or a message. */
export interface AskedFiles {
  /** The run needs them. */
  readonly attached: readonly Attached[];
  /** They were in the text, and are left out where the model cannot see them. */
  readonly pasted: readonly AttachedMedia[];
}

/** @throws HlvmError `attachment_not_readable`, `attachment_too_large`, `attachment_not_text`, `current_folder_gone` */
export function askedFiles(paths: readonly string[], pasted: readonly AttachedMedia[]): AskedFiles {
  const attached = readAttachments(paths);
  checkMediaTogether([...attached, ...pasted]);
  return { attached, pasted };
}

/** Sends a question or a message with what goes with it, without pasted images where the model cannot see them, which it says. */
export async function sendWithFiles<Sent>(
  send: (attachments: Attachment[]) => Promise<Sent>,
  { attached, pasted }: AskedFiles,
  screen: Pick<Screen, "note">,
): Promise<{ readonly sent: Sent; readonly withPasted: boolean }> {
  const attachments = attached.map(attachmentOf);
  try {
    return { sent: await send([...attachments, ...pasted.map(attachmentOf)]), withPasted: pasted.length > 0 };
  } catch (thrown) {
    if (pasted.length === 0 || fromConnectError(thrown).reason !== "attachment_not_taken") throw thrown;
    const sent = await send(attachments);
    screen.note(`The model takes no images: it is asked without ${described(pasted)}.`, "warning");
    return { sent, withPasted: false };
  }
}

/** The same, and says what was taken from the text, for those who do not see it in the log. */
export async function sendWithNotedFiles<Sent>(
  send: (attachments: Attachment[]) => Promise<Sent>,
  files: AskedFiles,
  screen: Pick<Screen, "note">,
): Promise<Sent> {
  const { sent, withPasted } = await sendWithFiles(send, files, screen);
  if (withPasted) screen.note(`attached ${described(files.pasted)}`, "dim");
  return sent;
}

function described(pasted: readonly AttachedMedia[]): string {
  return pasted.map(describeImage).join("; ");
}

function attachmentOf(one: Attached): Attachment {
  return create(AttachmentSchema, "data" in one ? { path: one.path, data: one.data } : one);
}
