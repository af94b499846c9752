import type { Answer } from "./answer.ts";

export function isEventStream(answer: Answer): boolean {
  return answer.ok && answer.headers.get("content-type")?.includes("text/event-stream") === true;
}
