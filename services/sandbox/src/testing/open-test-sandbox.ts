import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testLog } from "@hlvm/testing/test-log";
import { BubblewrapIsolation, type BubblewrapOptions } from "../adapters/bubblewrap/bubblewrap-isolation.ts";
import { findBubblewrap } from "../adapters/bubblewrap/find-bubblewrap.ts";
import { findLimits } from "../adapters/limits/find-limits.ts";
import type { SessionSandbox } from "../domain/isolation.ts";
import type { ToolResult } from "../domain/tool-event.ts";

export type TestLimits = Partial<Pick<BubblewrapOptions, "limits" | "processes" | "memoryMebibytes" | "temporaryMebibytes" | "fileMebibytes">>;

/** A real bubblewrap isolation with small limits, and where it keeps its state. */
export async function openTestIsolation(limits: TestLimits = {}): Promise<{ isolation: BubblewrapIsolation; stateDirectory: string }> {
  const stateDirectory = mkdtempSync(join(tmpdir(), "hlvm-sandbox-state-"));
  const isolation = await BubblewrapIsolation.open({
    bubblewrap: await findBubblewrap(process.env.HLVM_BWRAP ?? "bwrap", process.env.PATH ?? ""),
    limits: findLimits("rlimit", process.getuid!()),
    stateDirectory,
    processes: 128,
    memoryMebibytes: 512,
    temporaryMebibytes: 16,
    fileMebibytes: 64,
    log: testLog,
    ...limits,
  });
  return { isolation, stateDirectory };
}

export interface TestSandbox {
  /** The workspace, as it is outside. */
  readonly workspace: string;
  readonly isolation: BubblewrapIsolation;
  readonly sandbox: SessionSandbox;
  readonly run: (tool: string, given: object, options?: TestRun) => Promise<ToolResult & { readonly output: string }>;
  readonly close: () => Promise<void>;
}

export interface TestRun {
  readonly signal?: AbortSignal;
  readonly timeoutMilliseconds?: number;
  readonly onOutput?: (text: string) => void;
}

/** One sandbox on a new, empty workspace (or the folder given); tools run in it as they do for a session. */
export async function openTestSandbox(limits: TestLimits = {}, folder?: string): Promise<TestSandbox> {
  const { isolation, stateDirectory } = await openTestIsolation(limits);
  const workspace = folder ?? realpathSync(mkdtempSync(join(tmpdir(), "hlvm-workspace-")));
  const sandbox = await isolation.start({ sessionId: "test", workspace });
  let calls = 0;
  return {
    workspace,
    isolation,
    sandbox,
    run: async (tool, given, { signal = new AbortController().signal, timeoutMilliseconds = 20_000, onOutput } = {}) => {
      let output = "";
      const run = { callId: `call-${++calls}`, tool, argumentsJson: JSON.stringify(given), timeoutMilliseconds };
      const result = await sandbox.run(
        run,
        ({ text }) => {
          output += text;
          onOutput?.(text);
        },
        signal,
      );
      return { ...result, output };
    },
    close: async () => {
      await sandbox.close();
      rmSync(workspace, { recursive: true, force: true });
      rmSync(stateDirectory, { recursive: true, force: true });
    },
  };
}
