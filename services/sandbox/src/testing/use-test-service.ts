import { afterAll, beforeAll } from "vitest";
import { startTestService, type TestService } from "./start-test-service.ts";

/** One service for all tests of a file. It is there from the first hook on. */
export function useTestService(): TestService {
  const used = {} as TestService;
  let started: TestService | undefined;

  beforeAll(async () => {
    started = await startTestService();
    // With its getters: after a restart they give what runs then.
    Object.defineProperties(used, Object.getOwnPropertyDescriptors(started));
  });
  afterAll(() => started?.close());

  return used;
}
