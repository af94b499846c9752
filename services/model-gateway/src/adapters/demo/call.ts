import type { DemoCall } from "./situation.ts";

export function call(tool: string, given: DemoCall["arguments"]): DemoCall {
  return { tool, arguments: given };
}
