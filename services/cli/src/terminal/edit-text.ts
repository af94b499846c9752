import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { readPlanFile } from "../options/read-plan-file.ts";

/**
 * Has a person change a text in their editor.
 * @param editor as EDITOR names it, with its options
 * @throws HlvmError `editor_failed`, and what `readPlanFile` says of what they left
 */
export async function editText(text: string, editor: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-edit-"));
  const file = join(folder, "plan.md");
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "editor_failed",
        message: `The editor (${editor}) ended with ${code ?? "a signal"}, so that nothing of it was taken.`,
        advice: "Set EDITOR to an editor that works here, or give the plan with --file.",
      });
    return readPlanFile(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
