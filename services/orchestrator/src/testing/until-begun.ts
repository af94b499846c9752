import { expect } from "vitest";
import { ada, type TestOrchestrator } from "./test-orchestrator.ts";

/** A worker is told of before its session is there: resolves when it is. */
export async function untilBegun({ orchestrator }: Pick<TestOrchestrator, "orchestrator">, sessionId: string): Promise<void> {
  const options = await orchestrator.as(ada);
  await expect
    .poll(() =>
      orchestrator.client.getSession({ sessionId }, options).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
}
