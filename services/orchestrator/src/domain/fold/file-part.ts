import { create } from "@bufbuild/protobuf";
import { PartSchema, type Model, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** Which files a model can be given. */
export type TakenFiles = Pick<Model, "takesImages" | "takesDocuments">;

const PDF = "application/pdf";

export function isTaken(mediaType: string, takes: TakenFiles): boolean {
  return mediaType === PDF ? takes.takesDocuments : takes.takesImages;
}

/** An image or document for a model that takes it; its bytes are filled in later. */
export function filePart({ path, mediaType, width, height }: Attachment): Part {
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
