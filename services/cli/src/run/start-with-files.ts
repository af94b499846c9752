import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { AttachmentSchema, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService, StartRunRequestSchema, StartRunResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { describeImage } from "../options/pasted-images.ts";
import type { Attached, AttachedMedia } from "../options/read-attachments.ts";
import type { Screen } from "../terminal/screen.ts";

/** What goes with a question. */
export interface AskedFiles {
  /** The run needs them. */
  readonly attached: readonly Attached[];
  /** They were in the question, and are left out where the model cannot see them. */
  readonly pasted: readonly AttachedMedia[];
}

/** Starts a run with what goes with its question, and says what of that was pasted into it. */
export async function startWithFiles(
  sessions: Pick<Client<typeof SessionService>, "startRun">,
  request: MessageInitShape<typeof StartRunRequestSchema>,
  { attached, pasted }: AskedFiles,
  screen: Screen,
): Promise<StartRunResponse> {
  const shown = pasted.map(describeImage).join("; ");
  const attachments = attached.map(attachmentOf);
  try {
    const started = await sessions.startRun({ ...request, attachments: [...attachments, ...pasted.map(attachmentOf)] });
    if (pasted.length > 0) screen.note(`attached ${shown}`, "dim");
    return started;
  } catch (thrown) {
    if (pasted.length === 0 || fromConnectError(thrown).reason !== "attachment_not_taken") throw thrown;
    const started = await sessions.startRun({ ...request, attachments });
    screen.note(`${started.model} takes no images: it is asked without ${shown}.`, "warning");
    return started;
  }
}

function attachmentOf(one: Attached): Attachment {
  return create(AttachmentSchema, "data" in one ? { path: one.path, data: one.data } : one);
}
