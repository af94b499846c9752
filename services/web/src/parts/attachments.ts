import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AttachmentSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { useState } from "react";

export type NewAttachment = MessageInitShape<typeof AttachmentSchema>;

/** What the contract takes of one file, and of all of them. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_FILES = 32;
/** A text goes into the model's window as it is. */
const MOST_TEXT = 256 * 1024;
const MEDIA_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf"]);

export interface Attachments {
  readonly files: readonly NewAttachment[];
  /** Which files could not be taken, and why; empty where all could. */
  readonly problem: string;
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (file: NewAttachment) => void;
  readonly clear: () => void;
}

/** The files that go with what is about to be said. */
export function useAttachments(): Attachments {
  const [files, setFiles] = useState<readonly NewAttachment[]>([]);
  const [problem, setProblem] = useState("");
  const take = async (given: Iterable<File>): Promise<void> => {
    const taken = await Promise.all(Array.from(given, attachmentOf));
    const fresh = taken.filter((one) => typeof one !== "string");
    const problems = taken.filter((one) => typeof one === "string");
    if (files.length + fresh.length > MOST_FILES) problems.push(`${MOST_FILES} files are the most that go with one message.`);
    setFiles((before) => [...before, ...fresh].slice(0, MOST_FILES));
    setProblem(problems.join(" "));
  };
  return {
    files,
    problem,
    add: (given) => void take(given),
    remove: (file) => setFiles((before) => before.filter((one) => one !== file)),
    clear: () => {
      setFiles([]);
      setProblem("");
    },
  };
}

/** @returns why not, where it cannot be sent */
async function attachmentOf(file: File): Promise<NewAttachment | string> {
  if (file.size > MOST_BYTES) return `${file.name} is larger than 8 MB.`;
  const data = new Uint8Array(await file.arrayBuffer());
  if (MEDIA_TYPES.has(file.type)) return { path: file.name, data };
  const text = textOf(data);
  if (text === undefined) return `${file.name} is neither text nor PNG, JPEG, WebP or PDF.`;
  return data.length > MOST_TEXT ? `${file.name} is a text of more than 256 KB.` : { path: file.name, text };
}

function textOf(data: Uint8Array): string | undefined {
  if (data.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}
