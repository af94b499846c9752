import { posix } from "node:path";
import type { ReadyCall } from "./prepare-call.ts";

/** Whether two calls of one turn must run in their order: both are about one file, and one of them writes it. */
export function touchesSameFile(earlier: ReadyCall, later: ReadyCall): boolean {
  if (earlier.definition.category !== "write" && later.definition.category !== "write") return false;
  const path = fileOf(earlier);
  return path !== undefined && path === fileOf(later);
}

function fileOf({ value }: ReadyCall): string | undefined {
  return typeof value.path === "string" ? posix.join("/workspace", value.path.replace(/^\/workspace\//, "")) : undefined;
}
