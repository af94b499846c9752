import { createLog } from "@hlvm/log/create-log";

/** Says only what is wrong; HLVM_LOG_LEVEL=debug shows the rest. */
export const testLog = createLog("test", process.env.HLVM_LOG_LEVEL === "debug" ? "debug" : "error");
