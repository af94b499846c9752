import { create } from "@bufbuild/protobuf";
import { checkFile } from "@hlvm/attached-files/check-files";
import { DocumentPartSchema, ImagePartSchema, PartSchema, type ImagePart, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { FieldError } from "./fields.ts";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+)(?:;[a-z0-9=._-]+)*;base64,/i;

export function textPart(text: string): Part {
  return create(PartSchema, { part: { case: "text", value: text } });
}

/** @throws FieldError */
export function bytesOf(base64: string, field: string): Uint8Array {
  if (!BASE64.test(base64)) throw new FieldError(field, "is not base64");
  return Buffer.from(base64, "base64");
}

/** The bytes in a data URL: nothing is fetched from an address that a caller names. @throws FieldError */
export function bytesOfUrl(url: string, field: string): Uint8Array {
  const head = DATA_URL.exec(url)?.[0];
  if (head === undefined) throw new FieldError(field, "must be a data URL in base64; nothing is fetched from other addresses");
  return bytesOf(url.slice(head.length), field);
}

/** An image or a PDF, told by its bytes. @throws FieldError, HlvmError `attachment_not_readable`, `attachment_too_large` */
export function filePart(bytes: Uint8Array, field: string, name = ""): Part {
  const kind = checkFile(field, bytes);
  if (kind === undefined) throw new FieldError(field, "is no PNG, JPEG, WebP or PDF");
  if (kind.mediaType !== "application/pdf") return create(PartSchema, { part: { case: "image", value: image(bytes, kind) } });
  const value = create(DocumentPartSchema, { mediaType: kind.mediaType, data: bytes, name });
  return create(PartSchema, { part: { case: "document", value } });
}

/** @throws FieldError, HlvmError */
export function imageOf(bytes: Uint8Array, field: string): ImagePart {
  const kind = checkFile(field, bytes);
  if (kind === undefined || kind.mediaType === "application/pdf") throw new FieldError(field, "is no PNG, JPEG or WebP");
  return image(bytes, kind);
}

function image(bytes: Uint8Array, { mediaType, width, height }: { mediaType: string; width: number; height: number }): ImagePart {
  return create(ImagePartSchema, { mediaType, data: bytes, width, height });
}

/** What a provider wants back, as the text in which a client keeps it. */
export function opaqueText(data: Uint8Array): string {
  return Buffer.from(data).toString("base64");
}
