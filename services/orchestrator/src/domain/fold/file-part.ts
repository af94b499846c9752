import { create } from "@bufbuild/protobuf";
import { PartSchema, type Model, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Provenance } from "../context/provenance.ts";

/** Which files a model can be given. */
export type TakenFiles = Pick<Model, "takesImages" | "takesDocuments">;

const PDF = "application/pdf";

export function isTaken(mediaType: string, takes: TakenFiles): boolean {
  return mediaType === PDF ? takes.takesDocuments : takes.takesImages;
}

/** A part of a message, and where it comes from. */
export interface AttachedPart {
  readonly about: Omit<Provenance, "sequence" | "at">;
  readonly part: Part["part"];
}

/** What a model is given of an attachment: an image or document that it takes, whose bytes are filled in later; else a text. */
export function attachedPart(attachment: Attachment, takes: TakenFiles): AttachedPart {
  const { path, text, mediaType, sha256, size } = attachment;
  const about = { source: `attachment ${path}`, trust: Trust.USER_CLAIMED, kind: ContextKind.EVIDENCE };
  if (mediaType === "")
    return { about, part: { case: "text", value: `<attachment path=${JSON.stringify(path)}>\n${text}\n</attachment>` } };
  const file = filePart(attachment);
  if (isTaken(mediaType, takes)) return { about: { ...about, file: { sha256, size } }, part: file.part };
  const why = `this model takes no ${file.part.case === "document" ? "documents" : "images"}`;
  return { about, part: { case: "text", value: fileNote(file, why) } };
}

function filePart({ path, mediaType, width, height }: Attachment): Part {
  const name = nameOf(path);
  return mediaType === PDF
    ? create(PartSchema, { part: { case: "document", value: { mediaType, name } } })
    : create(PartSchema, { part: { case: "image", value: { mediaType, width, height, name } } });
}

/** Stands for an image or document where it cannot be, as in a summary; empty for other parts. */
export function fileNote({ part }: Part, why = ""): string {
  const hidden = why === "" ? "" : `, not shown: ${why}`;
  if (part.case === "image") return `[image ${part.value.name}, ${part.value.width}x${part.value.height}${hidden}]`;
  return part.case === "document" ? `[document ${part.value.name}${hidden}]` : "";
}

/** The last part of a path, fit for a line: paths are what clients say. */
function nameOf(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? "";
  return (
    name
      .replace(/[\p{C}\p{Z}[\]]+/gu, " ")
      .trim()
      .slice(-100) || "without a name"
  );
}
