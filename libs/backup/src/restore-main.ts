import { postgresVersion } from "@hlvm/embedded-postgres/postgres-version";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { restoreBackup } from "./restore-backup.ts";
import type { RestoreAnswer } from "./restore-locked.ts";

// Started under the lock of an HLVM directory, which it holds for as long as it lives: no mesh starts there meanwhile.
const [folder = "", directory = "", replaces = ""] = process.argv.slice(2);

async function restore(): Promise<RestoreAnswer> {
  try {
    return await restoreBackup({ folder, directory, postgres: postgresVersion(), replaces: replaces === "replace" });
  } catch (thrown) {
    if (thrown instanceof HlvmError)
      return { failed: { code: thrown.code, reason: thrown.reason, message: thrown.message, advice: thrown.advice } };
    return { failed: { code: "internal", reason: "restore_failed", message: `The backup was not restored: ${messageOf(thrown)}.` } };
  }
}

process.send?.(await restore(), () => process.disconnect?.());
