import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";

const BEGINNING = "GGUF";

export interface ModelFile {
  /** An absolute path. */
  readonly path: string;
  /** As the mesh calls it, after `local/`. */
  readonly name: string;
}

/** @throws HlvmError `model_file_missing`, `model_file_wrong` */
export async function modelFile(given: string): Promise<ModelFile> {
  if ((await beginningOf(given)) !== BEGINNING)
    throw new HlvmError({
      code: "invalid_argument",
      reason: "model_file_wrong",
      message: `${given} is no GGUF file: it does not begin with ${BEGINNING}.`,
      advice: "Give the path of a model's .gguf file; a page that was downloaded in its place is a common reason.",
    });
  return { path: resolve(given), name: basename(given).replace(/\.gguf$/i, "") };
}

async function beginningOf(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING.length), 0, BEGINNING.length, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } catch (cause) {
    throw new HlvmError({
      code: "not_found",
      reason: "model_file_missing",
      message: `${path} cannot be read.`,
      advice: "Give the path of a model's .gguf file.",
      cause,
    });
  }
}
