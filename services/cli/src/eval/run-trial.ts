import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createClient, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { mergeChanges } from "../workspace/merge-changes.ts";
import { requireGit } from "../workspace/run-git.ts";
import { writeMerged } from "../workspace/write-merged.ts";
import { modelSetting, type EvalSetting } from "./eval-setting.ts";
import type { EvalTask } from "./read-tasks.ts";
import { runSession, type SessionEnd } from "./run-session.ts";

/** Does as it is told without thinking, on every mesh: a check is a call of a session like any other, decided and in the audit log. */
const CHECKING: EvalSetting = modelSetting("demo/rules");
/** A trial that tells nothing about the model is made again this often. */
const TRIES_AFTER_ERRORS = 2;
const CHECK_BUDGET = { turns: 3, tokens: 1_000_000 };
const CHANGES_MILLISECONDS = 330_000;
const PASSED = 0;
const FAILED = 1;

/** Ends of a run that tell nothing about the model: a service or a provider failed, or a person stopped it. */
const INFRASTRUCTURE: ReadonlySet<StopReason> = new Set([StopReason.UNSPECIFIED, StopReason.ERROR, StopReason.USER_CANCELLED]);

export type Outcome = "passed" | "failed" | "error";

export interface Checked {
  readonly outcome: Outcome;
  /** Why it is not passed; empty where it is. */
  readonly why: string;
  readonly checkSessionId: string;
}

export interface Trial extends Checked {
  readonly sessionId: string;
  readonly turns: number;
  readonly tokens: number;
  readonly milliseconds: number;
  /** Undefined where the run told of none. */
  readonly cost: Cost | undefined;
  readonly denied: number;
  readonly asked: number;
  /** Times that it ended in an error, and was made again where that is not what it came to. */
  readonly errors: number;
}

interface Running {
  readonly transport: Transport;
  readonly signal: AbortSignal;
}

/** One attempt at a task, made again where a service or a provider failed, and not the model. @throws when aborted */
export async function runTrial(task: EvalTask, setting: EvalSetting, running: Running): Promise<Trial> {
  for (let errors = 0; ; errors++) {
    const trial = await attempt(task, setting, running);
    if (trial.outcome !== "error") return { ...trial, errors };
    if (errors === TRIES_AFTER_ERRORS) return { ...trial, errors: errors + 1 };
  }
}

/** One attempt of a model, and its check in a workspace of its own, which the model never sees. */
async function attempt(task: EvalTask, setting: EvalSetting, running: Running): Promise<Omit<Trial, "errors">> {
  using copy = await copyOf(task, running.signal);
  let end: SessionEnd | undefined;
  try {
    end = await runSession(running.transport, {
      ...running,
      folder: copy.folder,
      prompt: task.instruction,
      setting,
      budget: task.budget,
      image: task.image,
    });
    const { sessionId, tokens, stopped, exceeded, denied, asked } = end;
    const figures = {
      sessionId,
      tokens,
      cost: stopped.cost,
      denied,
      asked,
      turns: stopped.turns,
      milliseconds: stopped.durationMilliseconds,
    };
    if (exceeded !== undefined) return { ...figures, outcome: "failed", why: `its budget of ${exceeded} was used up`, checkSessionId: "" };
    if (stopped.reason !== StopReason.COMPLETED)
      return { ...figures, outcome: INFRASTRUCTURE.has(stopped.reason) ? "error" : "failed", why: stopped.message, checkSessionId: "" };
    const refused = await bringHome(sessionId, copy.folder, running);
    if (refused !== undefined) return { ...figures, outcome: "failed", why: refused, checkSessionId: "" };
    return { ...figures, ...(await check(task, copy.folder, running)) };
  } catch (thrown) {
    running.signal.throwIfAborted();
    const none = {
      sessionId: end?.sessionId ?? "",
      turns: 0,
      tokens: 0,
      cost: undefined,
      milliseconds: 0,
      denied: 0,
      asked: 0,
      checkSessionId: "",
    };
    return { ...none, outcome: "error", why: fromConnectError(thrown).message };
  }
}

/** Whether a task tells right from wrong: as it is it must fail, and with its solution it must pass. @returns why not */
export async function flawOf(task: EvalTask, running: Running): Promise<string | undefined> {
  if (task.unfit !== undefined) return task.unfit;
  using copy = await copyOf(task, running.signal);
  const idle = await check(task, copy.folder, running);
  if (idle.outcome !== "failed") return `its check does not fail where nothing was done: ${idle.why || "it passes"}`;
  using solved = await copyOf(task, running.signal);
  const solution = await check(task, solved.folder, running, join(task.folder, "solution"));
  return solution.outcome === "passed" ? undefined : `its check does not pass with its solution: ${solution.why}`;
}

/**
 * Runs the task's tests/test.sh in a fresh workspace with these files: 0 is passed, 1 is failed, all else is a check that could
 * not run. @param first a folder whose solve.sh comes before
 */
async function check(task: EvalTask, folder: string, running: Running, first?: string): Promise<Checked> {
  // Nobody who made the files could know the name.
  const hidden = `check-${randomUUID()}`;
  cpSync(join(task.folder, "tests"), join(folder, hidden), { recursive: true });
  if (first !== undefined) cpSync(first, join(folder, `${hidden}-solution`), { recursive: true });
  // What the model wrote into .gitignore has no say in what is checked.
  await requireGit(["add", "-A", "--force", "."], { folder, signal: running.signal });
  const command = `${first === undefined ? "" : `sh ${hidden}-solution/solve.sh && `}sh ${hidden}/test.sh`;
  const budget = { ...CHECK_BUDGET, seconds: task.checkSeconds + 60 };
  const end = await runSession(running.transport, {
    ...running,
    folder,
    prompt: `Run ${command}`,
    setting: CHECKING,
    budget,
    image: task.image,
  });
  // Its owner looks for what models did; this one is told by its id.
  await createClient(SessionService, running.transport).updateSession(
    { sessionId: end.sessionId, archived: true },
    { signal: running.signal },
  );
  const result = end.calls[0]?.result;
  const checked = { checkSessionId: end.sessionId };
  if (result?.exitCode === PASSED) return { ...checked, outcome: "passed", why: "" };
  if (result?.exitCode === FAILED) return { ...checked, outcome: "failed", why: lastLine(result.content) };
  const code = result?.exitCode === undefined ? (result?.summary ?? end.stopped.message) : `exit code ${result.exitCode}`;
  return { ...checked, outcome: "error", why: `the check could not run: ${code}` };
}

/** Brings a session's changes into the copy. @returns why they cannot be checked */
async function bringHome(sessionId: string, folder: string, { transport, signal }: Running): Promise<string | undefined> {
  const { files } = await createClient(SandboxService, transport).getChanges({ sessionId }, { signal, timeoutMs: CHANGES_MILLISECONDS });
  try {
    const merged = await mergeChanges(folder, files);
    writeMerged(
      folder,
      merged.flatMap(({ path, here, merged: one }) => (one.outcome === "clean" ? [{ path, here, content: one.content }] : [])),
    );
    return undefined;
  } catch (thrown) {
    if (thrown instanceof HlvmError && thrown.reason === "change_not_allowed") return `its changes are refused: ${thrown.message}`;
    throw thrown;
  }
}

/** The task's files as a repository in a temporary folder. */
async function copyOf({ folder, name }: EvalTask, signal: AbortSignal): Promise<Disposable & { readonly folder: string }> {
  const temporary = mkdtempSync(join(tmpdir(), "hlvm-eval-"));
  const copy = join(temporary, name);
  cpSync(join(folder, "environment"), copy, { recursive: true, filter: (path) => basename(path) !== "Dockerfile" });
  await requireGit(["init", "-q", "-b", "main"], { folder: copy, signal });
  return { folder: copy, [Symbol.dispose]: () => rmSync(temporary, { recursive: true, force: true }) };
}

/** What a check said last; the tool's own words about its end stand in brackets behind it. */
function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\[.*\]$/.test(line));
  return lines.at(-1)?.slice(0, 300) ?? "its check said nothing";
}
