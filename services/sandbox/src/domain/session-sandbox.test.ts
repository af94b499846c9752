import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testEnforcement } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import type { BubblewrapIsolation } from "../adapters/bubblewrap/bubblewrap-isolation.ts";
import { LocalFolders } from "../adapters/local-folders.ts";
import { openTestIsolation } from "../testing/open-test-sandbox.ts";
import type { CommandSandbox, Isolation } from "./isolation.ts";
import { SessionSandbox } from "./session-sandbox.ts";

let bubblewrap: BubblewrapIsolation;
let stateDirectory: string;
let workspace: string;

beforeAll(async () => {
  ({ isolation: bubblewrap, stateDirectory } = await openTestIsolation());
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-workspace-")));
});
afterAll(async () => {
  await bubblewrap.close();
  for (const path of [stateDirectory, workspace]) rmSync(path, { recursive: true });
});

it("has one sandbox stand by until the first command, and two from then on, each wanted before its command runs", async () => {
  let started = 0;
  const told: string[] = [];
  const isolation: Isolation = {
    startRunner: (request) => bubblewrap.startRunner(request),
    startCommand: async (request, profile, wanted) => {
      const number = ++started;
      void wanted?.then(() => told.push(`${number} is wanted`));
      const sandbox = await bubblewrap.startCommand(request, profile, wanted);
      const run: CommandSandbox["run"] = (command, watch) => {
        told.push(`${number} runs`);
        return sandbox.run(command, watch);
      };
      return { ending: sandbox.ending, ended: sandbox.ended, close: () => sandbox.close(), run };
    },
    copyCheckpoints: (from, to) => bubblewrap.copyCheckpoints(from, to),
    forget: (sessionId) => bubblewrap.forget(sessionId),
    describe: () => bubblewrap.describe(),
  };
  const request = { sessionId: "standing-by", workspace: await new LocalFolders([]).inspect(workspace) };
  const session = new SessionSandbox({ isolation, request, idleMilliseconds: 60_000, log: testLog, onIdle: () => undefined });
  const enforcement = { ...testEnforcement, profile: "read" } as const;
  const use = (tool: string, given: object) => {
    const run = { callId: tool, tool, argumentsJson: JSON.stringify(given), timeoutMilliseconds: 20_000, enforcement };
    return session.use(run, (execute) => execute(() => undefined, new AbortController().signal));
  };

  session.warm();
  expect(await use("list_files", {})).toMatchObject({ success: true });
  expect(started).toBe(1);
  expect(await use("shell_exec", { command: "echo hi" })).toMatchObject({ success: true, content: "hi\n" });
  await expect.poll(() => started).toBe(3);
  expect(told).toEqual(["1 is wanted", "1 runs"]);
  await session.close();
});
