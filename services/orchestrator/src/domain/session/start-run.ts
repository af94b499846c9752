import { randomBytes, randomUUID } from "node:crypto";
import type { Principal } from "@hlvm/identity/principal";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { PermissionSettings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { requireSpendable } from "../budget/require-spendable.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Mesh, ModelTask, OpenedWorkspace } from "../loop/ports.ts";
import { retryAtReplicas } from "../loop/retry-while-away.ts";
import type { BegunRun } from "../run/begun-run.ts";
import type { RunAgent } from "../workers/run-agent.ts";
import { resolveModel } from "../run/resolve-model.ts";
import type { RunRegistry } from "../run/run-registry.ts";
import { beginAskedRun } from "./begin-asked-run.ts";
import { requireSession } from "./require-session.ts";
import type { Session, SessionFacts } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import type { AttachedFiles } from "./attached-files.ts";
import { requireRoom, requireTaken, takeAttachments } from "./take-attachments.ts";

export interface RunAsked {
  readonly principal: Principal;
  readonly sessionId: string;
  /** Whether the session is to be made. */
  readonly isNew: boolean;
  readonly runId: string;
  readonly agent: RunAgent;
  /** As the edge signed it, narrowed by the profile where that narrows it: for whoever calls for this run. */
  readonly delegation: string;
  readonly prompt: string;
  /** Empty when resuming, and where the session's workspace was prepared. */
  readonly workspace: string;
  /** The sandbox service has made a workspace for the session to be. */
  readonly isPrepared: boolean;
  /** Empty: the session's, else the default. */
  readonly model: string;
  readonly settings: PermissionSettings;
  readonly attachments: readonly Attachment[];
  readonly stateless: boolean;
  /** The person's own instructions for every session; empty where they have none. */
  readonly personalInstructions: string;
  /** Fingerprints or kinds of secrets that the model may see in this run. */
  readonly allowedSecrets: readonly string[];
  /** What the run may use, of its own choosing. */
  readonly budget?: RunBudget;
  readonly signal: AbortSignal;
}

export interface RunStarter {
  readonly store: SessionStore;
  readonly log: Pick<EventLog, "readRecorded" | "readConversation">;
  readonly attached: AttachedFiles;
  readonly runs: RunRegistry;
  /** The other services, called for whoever started the run. */
  readonly mesh: Mesh;
  readonly execute: (run: BegunRun, controller: AbortController) => Promise<void>;
}

export interface StartedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** Of the run's user_message. */
  readonly sequence: number;
  readonly model: string;
}

/**
 * Makes sure that workspace and model are there, writes the question into the log and starts the run. Where it throws,
 * nothing runs and nothing was opened; only where the database's answer was lost may the log say that a run began, which is
 * cancelled then.
 * @throws HlvmError `session_not_found`, `run_in_progress`, `workspace_missing`, `workspace_differs`, `attachment_not_taken`, or what the sandbox and the model gateway say
 */
export async function startRun(asked: RunAsked, starter: RunStarter): Promise<StartedRun> {
  requireStartable(asked, starter);
  const { sessionId } = asked;
  const existing = asked.isNew ? undefined : await requireResumable(asked, starter.store);
  const { attachments, files } = takeAttachments(asked.attachments);
  const [workspace, model] = await openAndResolve(existing, { ...asked, attachments }, starter.mesh);
  try {
    requireTaken(attachments, model);
    if (existing !== undefined) await requireRoom(sessionId, files, starter.attached);
  } catch (refused) {
    if (existing === undefined) await close(sessionId, starter.mesh);
    throw refused;
  }
  const facts = existing ?? { ...newFacts(workspace, asked), secretKey: randomBytes(32) };
  return beginAskedRun(asked, { isNew: existing === undefined, facts, model, attachments, files }, starter).catch(
    async (cause: unknown) => {
      // A session that is there although it should have been new has a workspace that others use.
      if (existing === undefined && !(cause instanceof HlvmError && cause.reason === "run_in_progress"))
        await close(sessionId, starter.mesh);
      throw cause;
    },
  );
}

/** @throws HlvmError `stopping`, `budget_invalid` */
export function requireStartable({ budget }: RunAsked, { runs }: RunStarter): void {
  if (runs.draining.aborted)
    throw new HlvmError({
      code: "unavailable",
      reason: "stopping",
      message: "The orchestrator is stopping.",
      advice: "Try again in a moment.",
    });
  requireSpendable(budget);
}

async function requireResumable(asked: RunAsked, store: SessionStore): Promise<Session> {
  const session = await requireSession(store, asked.principal, asked.sessionId, "drive");
  if (session.worker !== undefined)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "session_of_worker",
      message: `Session ${session.sessionId} is a worker's: it has one run, which its parent started.`,
      advice: `Go on with its parent: \`hlvm ask --resume ${session.worker.parentSessionId} …\`, or fork it.`,
    });
  if (session.stateless)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "session_stateless",
      message: "A stateless session has one run and is deleted after it.",
      advice: "Ask without --resume, or without --stateless to keep the session.",
    });
  return session;
}

async function openAndResolve(existing: Session | undefined, asked: RunAsked, mesh: Mesh): Promise<[OpenedWorkspace, Model]> {
  const { sessionId } = asked;
  const path = existing?.workspace ?? asked.workspace;
  if (path === "" && !asked.isPrepared)
    throw new HlvmError({
      code: "invalid_argument",
      reason: "workspace_missing",
      message: "A new session needs a workspace.",
      advice: "Give the absolute path of the folder to work in, or the URL of a repository (--workspace).",
    });
  if (existing !== undefined) await requireSameWorkspace(existing, asked, mesh);
  const task = { task: asked.prompt, needs: needsOf(asked.attachments) };
  const [opened, resolved] = await Promise.allSettled([
    retryAtReplicas(() => mesh.sandbox.openWorkspace(sessionId, path, asked.signal), asked.signal),
    resolveModel(mesh.models, asked.model || asked.agent.profile.model || (existing?.model ?? ""), task, asked.signal),
  ]);
  if (opened.status === "rejected") throw opened.reason;
  if (resolved.status === "rejected") {
    if (existing === undefined) await close(sessionId, mesh);
    throw resolved.reason;
  }
  // Where the session's folder was replaced by a link to another one, the sandbox has just bound that one.
  if (existing !== undefined && opened.value.path !== existing.workspace) {
    await close(sessionId, mesh);
    throw workspaceDiffers(existing, opened.value.path);
  }
  return [opened.value, resolved.value];
}

/** What a model has to take to be given what is attached. */
function needsOf(attachments: readonly Attachment[]): ModelTask["needs"] {
  const has = (kind: string): boolean => attachments.some(({ mediaType }) => mediaType.startsWith(kind));
  return { images: has("image/"), documents: has("application/pdf") };
}

/** A path that reads otherwise may be the same folder: the sandbox tells, asked for no session that is in use. */
async function requireSameWorkspace(session: Session, { workspace, signal }: RunAsked, mesh: Mesh): Promise<void> {
  if (workspace === "" || workspace === session.workspace) return;
  const probe = randomUUID();
  const { path } = await mesh.sandbox.openWorkspace(probe, workspace, signal);
  await close(probe, mesh);
  if (path !== session.workspace) throw workspaceDiffers(session, path);
}

/** What cannot be closed now is closed by the sandbox when it has been idle for long. */
async function close(sessionId: string, mesh: Mesh): Promise<void> {
  await mesh.sandbox.closeWorkspace(sessionId).catch(() => undefined);
}

function newFacts(workspace: OpenedWorkspace, asked: RunAsked): Omit<SessionFacts, "title" | "secretKey"> {
  return {
    sessionId: asked.sessionId,
    owner: asked.principal.id,
    workspace: workspace.path,
    gitRepository: workspace.gitRepository,
    gitBranch: workspace.gitBranch,
    stateless: asked.stateless,
  };
}

function workspaceDiffers(session: Session, path: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_differs",
    message: `Session ${session.sessionId} works in ${session.workspace}, not in ${path}.`,
    advice: "Resume it without --workspace, or ask without --resume for a new session.",
  });
}
