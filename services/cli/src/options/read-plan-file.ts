import { readFileSync, statSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromCurrentFolder } from "./from-current-folder.ts";

const MAXIMUM_BYTES = 65_536;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;

/**
 * A plan as a person wrote it: text in UTF-8, at most 64 KiB.
 * @throws HlvmError `plan_not_readable`, `plan_unfit`
 */
export function readPlanFile(path: string): string {
  const bytes = readBytes(path, fromCurrentFolder(path));
  if (bytes.length > MAXIMUM_BYTES) throw unfit(`The plan has ${bytes.length} bytes, and ${MAXIMUM_BYTES} is the most.`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unfit("The plan is not text in UTF-8.");
  }
  if (CONTROL.test(text)) throw unfit("The plan has control characters in it.");
  if (text.trim() === "") throw unfit("The plan is empty.");
  return text.replaceAll("\r\n", "\n");
}

function readBytes(path: string, absolute: string): Buffer {
  try {
    // A pipe or a device may never end.
    if (!statSync(absolute).isFile()) throw new Error("it is not a regular file");
    return readFileSync(absolute);
  } catch (cause) {
    throw new HlvmError({
      code: "not_found",
      reason: "plan_not_readable",
      message: `The plan ${path} cannot be read: ${(cause as Error).message}.`,
      advice: "Give --file a file that exists and that you may read.",
      cause,
    });
  }
}

function unfit(message: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "plan_unfit",
    message,
    advice: "Nothing was accepted: give the plan as Markdown, or reject it with `hlvm plan reject`.",
  });
}
