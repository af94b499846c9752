import { createLog, type LogLevel } from "@hlvm/log/create-log";

const level = process.env.HLVM_LOG_LEVEL as LogLevel | undefined;

/** Says nothing, since what tests have go wrong on purpose is no news; HLVM_LOG_LEVEL=error, say, shows it. */
export const testLog = createLog("test", level ?? "error");
if (level === undefined) testLog.level = "silent";
