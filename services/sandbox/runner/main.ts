import { statSync } from "node:fs";
import { Socket } from "node:net";
import type {
  RunnerRequest_ApplyJson,
  RunnerRequest_CheckpointJson,
  RunnerRequest_CompareJson,
  RunnerRequest_PreviewJson,
  RunnerRequest_ReadInstructionsJson,
  RunnerRequest_RewindJson,
  RunnerRequest_ExecuteJson,
  RunnerRequest_RestoreJson,
  RunnerRequestJson,
  RunnerResponseJson,
} from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { changeFromJson, changeToJson } from "./change-json.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { Rewound } from "./checkpoints.ts";
import type { ListedChanges } from "./list-changes.ts";
import { closeInherited } from "./close-inherited.ts";
import { folderIdentity } from "./folder-identity.ts";
import { encodeFrame, FrameDecoder } from "./frames.ts";
import { apply, protect, restore } from "./guard.ts";
import { previewCall } from "./preview-call.ts";
import { readIdentity } from "./read-identity.ts";
import { readAllInstructions, readInstructions, readProfiles } from "./read-instructions.ts";
import { ToolFailure, toResult, type ToolAnswer } from "./tool.ts";
import { runTool } from "./tools.ts";
import { WORKSPACE } from "./workspace-path.ts";

/** The descriptor on which the service that started this process speaks. */
const SERVICE_DESCRIPTOR = 3;
const KEPT_CHANGES_BYTES = 4 * 1024 * 1024;
const KEPT_CHANGES = 500;

/** Where this process alone finds the session's checkpoints. */
const CHECKPOINTS = "/checkpoints";
let checkpoints: Checkpoints | undefined;

requireWorkspace();
closeInherited(SERVICE_DESCRIPTOR);
const service = new Socket({ fd: SERVICE_DESCRIPTOR, readable: true, writable: true });
const decoder = new FrameDecoder();
/** The calls that run now, by id; aborting one ends its tool. */
const running = new Map<string, AbortController>();

function send(response: RunnerResponseJson): void {
  service.write(encodeFrame(response));
}

async function execute(call: RunnerRequest_ExecuteJson): Promise<void> {
  const {
    callId = "",
    tool = "",
    argumentsJson = "{}",
    timeoutMilliseconds = 0,
    readOnly = false,
    protectedPaths = [],
    expectedSha256,
  } = call;
  const controller = new AbortController();
  running.set(callId, controller);
  const timer = setTimeout(() => controller.abort(timedOut(timeoutMilliseconds)), timeoutMilliseconds);
  const { signal } = controller;
  const answer = await Promise.race([
    runTool(tool, argumentsJson, { signal, writes: { readOnly, protectedPaths, expectedSha256 } }),
    abandoned(signal),
  ]);
  clearTimeout(timer);
  running.delete(callId);
  send({ result: { callId, result: toResult(answer) } });
}

/** A program is ended by the signal; whatever does not heed it is not waited for. */
function abandoned(signal: AbortSignal): Promise<ToolAnswer> {
  const GRACE_MILLISECONDS = 80;
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      const { errorCode, message } = signal.reason as ToolFailure;
      setTimeout(() => resolve({ content: message, summary: message, errorCode }), GRACE_MILLISECONDS).unref();
    });
  });
}

function timedOut(milliseconds: number): ToolFailure {
  return new ToolFailure("timeout", `The tool was ended after ${milliseconds / 1_000} s.`);
}

/** What does not fit into a frame is put back all the same, and cannot be made again. */
function restoreFor({ callId = "", keepWatching = false }: RunnerRequest_RestoreJson): void {
  let room = KEPT_CHANGES_BYTES;
  const changes = restore(callId, keepWatching).map((change) => {
    room -= (change.before.content?.length ?? 0) + (change.after.content?.length ?? 0);
    return changeToJson(change, room > 0);
  });
  send({ restored: { callId, changes: changes.slice(0, KEPT_CHANGES) } });
}

function applyFor({ callId = "", changes = [] }: RunnerRequest_ApplyJson): void {
  send({ applied: { callId, failure: apply(changes.map(changeFromJson)) } });
}

function checkpointFor({ callId = "", turn = "" }: RunnerRequest_CheckpointJson): void {
  send({
    checkpointed: { callId, failure: failureOfCheckpoint(() => (checkpoints ??= new Checkpoints(WORKSPACE, CHECKPOINTS)).note(turn)) },
  });
}

function rewindFor({ callId = "", turns = [], preview = false, overwrite = false }: RunnerRequest_RewindJson): void {
  let rewound: Rewound = { failure: "", paths: [], pathCount: 0, incomplete: false };
  const failure = failureOfCheckpoint(() => {
    rewound = (checkpoints ??= new Checkpoints(WORKSPACE, CHECKPOINTS)).rewind({ turns, preview, overwrite });
  });
  send({ rewound: { ...rewound, callId, failure, paths: [...rewound.paths] } });
}

function compareFor({ callId = "" }: RunnerRequest_CompareJson): void {
  let compared: ListedChanges = { changes: [], changeCount: 0 };
  const failure = failureOfCheckpoint(() => {
    compared = (checkpoints ??= new Checkpoints(WORKSPACE, CHECKPOINTS)).compare();
  });
  send({ compared: { callId, failure, ...compared } });
}

async function instructionsFor({ callId = "", folders = [], all, profiles }: RunnerRequest_ReadInstructionsJson): Promise<void> {
  const reading = profiles === true ? readProfiles() : all === true ? readAllInstructions() : readInstructions(folders);
  const isWhole = profiles !== true && all !== true && folders.includes("");
  const [{ files, more }, identity] = await Promise.all([reading, isWhole ? readIdentity() : undefined]);
  send({ instructions: { callId, files: [...files], more, identity } });
}

async function previewFor({ callId = "", tool = "", argumentsJson = "{}" }: RunnerRequest_PreviewJson): Promise<void> {
  const { texts, presentBytes, ...preview } = await previewCall(tool, argumentsJson);
  send({ previewed: { callId, ...preview, presentBytes: String(presentBytes), ...texts } });
}

/** What is noted in part is read again from where it was written down. */
function failureOfCheckpoint(work: () => void): string {
  try {
    work();
    return "";
  } catch (thrown) {
    checkpoints = undefined;
    return (thrown as Error).message;
  }
}

service.on("data", (chunk: Buffer) => {
  for (const message of decoder.push(chunk)) {
    const {
      execute: call,
      cancel,
      protect: protecting,
      restore: restoring,
      apply: applying,
      checkpoint,
      rewind,
      compare,
      readInstructions: reading,
      preview,
    } = message as RunnerRequestJson;
    if (call !== undefined) void execute(call);
    if (cancel !== undefined) running.get(cancel.callId ?? "")?.abort(new ToolFailure("cancelled", "The tool was cancelled."));
    if (protecting !== undefined) {
      protect(protecting.callId ?? "");
      send({ protected: { callId: protecting.callId } });
    }
    if (restoring !== undefined) restoreFor(restoring);
    if (applying !== undefined) applyFor(applying);
    if (checkpoint !== undefined) checkpointFor(checkpoint);
    if (rewind !== undefined) rewindFor(rewind);
    if (compare !== undefined) compareFor(compare);
    if (reading !== undefined) void instructionsFor(reading);
    if (preview !== undefined) void previewFor(preview);
  }
});
service.on("error", () => process.exit(1));
service.on("close", () => process.exit(0));
send({ ready: {} });

/** Ends this process where another folder is mounted than the session was opened on: its path may change while bwrap looks it up. */
function requireWorkspace(): void {
  if (folderIdentity(statSync(WORKSPACE, { bigint: true })) === process.env.HLVM_WORKSPACE_IDENTITY) return;
  console.error("another folder has taken the place of the one that the session was opened on");
  process.exit(1);
}
