export type CheckResult = "ok" | "warn" | "fail";

/** One thing that HLVM needs, and whether it is there. */
export interface Check {
  readonly name: string;
  readonly result: CheckResult;
  /** What was found. */
  readonly detail: string;
  /** What to do; empty where nothing has to be done. */
  readonly advice: string;
}

export function ok(name: string, detail: string): Check {
  return { name, result: "ok", detail, advice: "" };
}

export function warn(name: string, detail: string, advice: string): Check {
  return { name, result: "warn", detail, advice };
}

export function fail(name: string, detail: string, advice: string): Check {
  return { name, result: "fail", detail, advice };
}
