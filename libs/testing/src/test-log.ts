import { afterEach } from "vitest";
import { createLog } from "@hlvm/log/create-log";

let logged: string[] = [];

/** Says what is wrong, and only where a test fails, since much is made to go wrong on purpose; HLVM_LOG_LEVEL=debug shows all of it. */
export const testLog =
  process.env.HLVM_LOG_LEVEL === "debug"
    ? createLog("test", "debug")
    : createLog("test", "error", { write: (line) => void logged.push(line) });

afterEach(({ task }) => {
  if (task.result?.state === "fail") process.stdout.write(logged.join(""));
  logged = [];
});
