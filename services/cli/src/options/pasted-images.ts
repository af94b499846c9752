import { statSync } from "node:fs";
import { basename } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { checkFile } from "@hlvm/attached-files/check-files";
import { readAttachments, type AttachedMedia } from "./read-attachments.ts";

/** A path that terminals paste for a file that was dropped on them: in quotes, or with escapes; or an image's own data. */
const WORD =
  /(?<=^|\s)(?:'(?<single>\/[^'\n]+)'|"(?<double>\/[^"\n]+)"|(?<plain>\/(?:\\.|[^\s\\'"])+)|data:image\/(?:png|jpeg|webp);base64,(?<data>[A-Za-z0-9+/]+={0,2}))(?=\s|$)/g;
const IMAGE_NAME = /\.(?:png|jpe?g|webp)$/i;

export interface PastedImages {
  /** With names in the place of images' data. */
  readonly question: string;
  readonly images: readonly AttachedMedia[];
}

/**
 * The images that were pasted into a question. A path stays in it, and one that names no image is a word like any other.
 * @throws HlvmError `attachment_too_large`, and for pasted data `attachment_not_readable`
 */
export function pastedImages(question: string): PastedImages {
  const images: AttachedMedia[] = [];
  const left = question.replace(WORD, (word, ...rest: unknown[]) => {
    const { single, double, plain, data } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const image = data === undefined ? imageAt(single ?? double ?? plain!.replace(/\\(.)/g, "$1")) : imageIn(data, images.length + 1);
    if (image === undefined) return word;
    images.push(image);
    return data === undefined ? word : image.path;
  });
  return { question: left, images };
}

/** How a person is told of one: `shot.png, 640x480`. */
export function describeImage({ path, kind }: AttachedMedia): string {
  return "width" in kind ? `${basename(path)}, ${kind.width}x${kind.height}` : basename(path);
}

function imageAt(path: string): AttachedMedia | undefined {
  if (!IMAGE_NAME.test(path) || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  try {
    const [attached] = readAttachments([path]);
    return attached !== undefined && "kind" in attached && "width" in attached.kind ? attached : undefined;
  } catch (thrown) {
    if (thrown instanceof HlvmError && thrown.reason !== "attachment_too_large") return undefined;
    throw thrown;
  }
}

function imageIn(base64: string, number: number): AttachedMedia | undefined {
  const data = Buffer.from(base64, "base64");
  const path = `pasted-image-${number}`;
  const kind = checkFile(path, data);
  return kind === undefined ? undefined : { path, data, kind };
}
