import { Socket } from "node:net";
import type { RunnerRequest_ExecuteJson, RunnerRequestJson, RunnerResponseJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { closeInherited } from "./close-inherited.ts";
import { FrameDecoder } from "./frames.ts";
import { Outbox } from "./outbox.ts";
import { requireWorkspace } from "./require-workspace.ts";
import { runningCalls } from "./running-calls.ts";
import { currentShell } from "./current-shell.ts";
import { sweepProcesses } from "./sweep-processes.ts";
import { ToolFailure, toResult, type ToolAnswer } from "./tool.ts";
import { runTool } from "./tools.ts";

/** The descriptor on which the service that started this process speaks. */
const SERVICE_DESCRIPTOR = 3;
const PAUSE_AFTER_RESULT_MILLISECONDS = 4;

requireWorkspace();
closeInherited(SERVICE_DESCRIPTOR);
const service = new Socket({ fd: SERVICE_DESCRIPTOR, readable: true, writable: true });
const outbox = new Outbox(service);
const decoder = new FrameDecoder();

async function execute({
  callId = "",
  tool = "",
  argumentsJson = "{}",
  timeoutMilliseconds = 0,
}: RunnerRequest_ExecuteJson): Promise<void> {
  const controller = new AbortController();
  runningCalls.set(callId, controller);
  const timer = setTimeout(() => controller.abort(timedOut(timeoutMilliseconds)), timeoutMilliseconds);
  const answer = await Promise.race([
    runTool(tool, argumentsJson, {
      signal: controller.signal,
      output: (stream, text) => {
        const output = { stream: stream === "stdout" ? "STREAM_STDOUT" : "STREAM_STDERR", text } as const;
        outbox.sendSoon({ output: { callId, output } } satisfies RunnerResponseJson);
      },
    }),
    abandoned(controller.signal),
  ]);
  clearTimeout(timer);
  runningCalls.delete(callId);
  if (mayHaveDetached(tool, answer)) sweepProcesses();
  outbox.send({ result: { callId, result: toResult(answer) } } satisfies RunnerResponseJson);
  prepareShellSoon();
}

/** Between calls, and not at once: the kernel would let the service wait for the result until the new process stands. */
function prepareShellSoon(): void {
  setTimeout(() => {
    if (runningCalls.size === 0) currentShell.prepare();
  }, PAUSE_AFTER_RESULT_MILLISECONDS);
}

/** Programs are ended by the signal and say what they had printed; whatever does not heed it is not waited for. */
function abandoned(signal: AbortSignal): Promise<ToolAnswer> {
  const GRACE_MILLISECONDS = 80;
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      const { errorCode, message } = signal.reason as ToolFailure;
      setTimeout(() => resolve({ content: message, summary: message, errorCode }), GRACE_MILLISECONDS).unref();
    });
  });
}

/** Of a command that was cut off nothing goes on, unless another call may need what there is. */
function mayHaveDetached(tool: string, { errorCode }: ToolAnswer): boolean {
  const wasCutOff = tool === "shell_exec" && (errorCode === "cancelled" || errorCode === "timeout");
  return wasCutOff && [...runningCalls.values()].every(({ signal }) => signal.aborted);
}

function timedOut(milliseconds: number): ToolFailure {
  return new ToolFailure("timeout", `The tool was ended after ${milliseconds / 1_000} s.`);
}

service.on("data", (chunk: Buffer) => {
  for (const message of decoder.push(chunk)) {
    const request = message as RunnerRequestJson;
    if (request.execute !== undefined) void execute(request.execute);
    if (request.cancel !== undefined)
      runningCalls.get(request.cancel.callId ?? "")?.abort(new ToolFailure("cancelled", "The tool was cancelled."));
  }
});
service.on("error", () => process.exit(1));
service.on("close", () => process.exit(0));
outbox.send({ ready: {} } satisfies RunnerResponseJson);
prepareShellSoon();
