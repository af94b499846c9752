import { expect, it } from "vitest";
import { testLog } from "@hlvm/testing/test-log";
import type { Runner, ToolRun } from "./isolation.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";

it("what one turn has written when another begins beside it is noted as the session's own", async () => {
  const noted: string[] = [];
  const runner = { checkpoint: async (turn: string) => (noted.push(turn), "") } as unknown as Runner;
  const checkpoints = new TurnCheckpoints(async () => runner, testLog);
  const run = (checkpoint: string): ToolRun => ({ checkpoint, enforcement: { profile: "open" } }) as unknown as ToolRun;
  const first = Promise.withResolvers<void>();
  const writing = checkpoints.around(run("one"), () => first.promise);
  await checkpoints.around(run("two"), async () => expect(noted).toEqual(["one", "", "two"]));
  first.resolve();
  await writing;
  await checkpoints.around(run("two"), async () => undefined);
  expect(noted.slice(0, 4)).toEqual(["one", "", "two", ""]);
});
