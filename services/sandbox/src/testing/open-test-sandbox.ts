import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testEnforcement } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { BubblewrapIsolation, type BubblewrapOptions } from "../adapters/bubblewrap/bubblewrap-isolation.ts";
import { SessionHomes } from "../adapters/bubblewrap/session-homes.ts";
import { findLimits } from "../adapters/limits/find-limits.ts";
import { LocalFolders } from "../adapters/local-folders.ts";
import type { Enforcement } from "@hlvm/grant/grant";
import { SessionSandbox } from "../domain/session-sandbox.ts";
import type { ToolOutput, ToolResult } from "../domain/tool-event.ts";
import { findTestBubblewrap } from "./find-test-bubblewrap.ts";

const IDLE_MILLISECONDS = 60_000;

export type TestLimits = Partial<
  Pick<BubblewrapOptions, "bubblewrap" | "limits" | "processes" | "memoryMebibytes" | "temporaryMebibytes" | "fileMebibytes">
>;

/** A real bubblewrap isolation with small limits, and where it keeps its state. */
export async function openTestIsolation(limits: TestLimits = {}): Promise<{ isolation: BubblewrapIsolation; stateDirectory: string }> {
  const stateDirectory = mkdtempSync(join(tmpdir(), "hlvm-sandbox-state-"));
  try {
    const isolation = await BubblewrapIsolation.open({
      bubblewrap: await findTestBubblewrap(),
      limits: findLimits("rlimit", process.getuid!()),
      stateDirectory,
      homesDirectory: join(stateDirectory, "homes"),
      checkpoints: new SessionHomes(join(stateDirectory, "checkpoints")),
      processes: 128,
      memoryMebibytes: 512,
      temporaryMebibytes: 16,
      fileMebibytes: 64,
      log: testLog,
      ...limits,
    });
    return { isolation, stateDirectory };
  } catch (thrown) {
    rmSync(stateDirectory, { recursive: true, force: true });
    throw thrown;
  }
}

export interface TestSandbox {
  /** The workspace, as it is outside. */
  readonly workspace: string;
  readonly isolation: BubblewrapIsolation;
  readonly run: (tool: string, given: object, options?: TestRun) => Promise<ToolResult & { readonly output: string }>;
  /** Ends the sandbox; the next run starts a new one. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TestRun {
  readonly signal?: AbortSignal;
  readonly timeoutMilliseconds?: number;
  /** Left out, what an L2 call may do. */
  readonly enforcement?: Partial<Enforcement>;
  readonly onOutput?: (text: string) => void;
}

/** One sandbox on a new, empty workspace (or the folder given); tools run in it as they do for a session. */
export async function openTestSandbox(limits: TestLimits = {}, folder?: string): Promise<TestSandbox> {
  const { isolation, stateDirectory } = await openTestIsolation(limits);
  const workspace = folder ?? realpathSync(mkdtempSync(join(tmpdir(), "hlvm-workspace-")));
  const request = { sessionId: "test", workspace: await new LocalFolders([]).inspect(workspace) };
  const resident = new SessionSandbox({ isolation, request, idleMilliseconds: IDLE_MILLISECONDS, log: testLog, onIdle: () => undefined });
  let calls = 0;
  return {
    workspace,
    isolation,
    run: async (tool, given, { signal = new AbortController().signal, timeoutMilliseconds = 20_000, onOutput, enforcement } = {}) => {
      let output = "";
      const run = {
        callId: `call-${++calls}`,
        tool,
        argumentsJson: JSON.stringify(given),
        timeoutMilliseconds,
        enforcement: { ...testEnforcement, ...enforcement },
      };
      const take = ({ text }: ToolOutput): void => {
        output += text;
        onOutput?.(text);
      };
      return { ...(await resident.use(run, (execute) => execute(take, signal))), output };
    },
    stop: () => resident.stop(),
    close: async () => {
      await resident.close();
      await isolation.close();
      rmSync(workspace, { recursive: true, force: true });
      rmSync(stateDirectory, { recursive: true, force: true });
    },
  };
}
