import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session, WorkerFacts } from "../../domain/session/session.ts";

export interface SessionRow extends Record<string, unknown> {
  readonly session_id: string;
  readonly owner: string;
  readonly title: string;
  readonly workspace: string;
  readonly git_repository: boolean;
  readonly git_branch: string;
  readonly stateless: boolean;
  readonly secret_key: Buffer;
  readonly model: string;
  readonly last_seq: string;
  readonly running_run_id: string | null;
  readonly last_stop_reason: number | null;
  readonly archived: boolean;
  readonly forked_from: string | null;
  readonly forked_at: string;
  readonly imported: boolean;
  readonly parent_session_id: string | null;
  readonly parent_run_id: string | null;
  readonly work_session_id: string | null;
  readonly worker_depth: number;
  readonly agent_type: string;
  readonly cost: string;
  readonly unpriced_calls: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const SESSION_COLUMNS = `
  session_id, owner, title, workspace, git_repository, git_branch, stateless, secret_key, model, last_seq, archived, forked_from, forked_at, imported, parent_session_id, parent_run_id, work_session_id, worker_depth, agent_type, cost, unpriced_calls, created_at, updated_at,
  (SELECT run_id FROM run WHERE run.session_id = session.session_id AND ended_at IS NULL) AS running_run_id,
  (SELECT stop_reason FROM run WHERE run.session_id = session.session_id AND ended_at IS NOT NULL ORDER BY started_at DESC LIMIT 1) AS last_stop_reason`;

export function sessionOfRow(row: SessionRow): Session {
  return {
    sessionId: row.session_id,
    owner: row.owner,
    title: row.title,
    workspace: row.workspace,
    gitRepository: row.git_repository,
    gitBranch: row.git_branch,
    stateless: row.stateless,
    secretKey: row.secret_key,
    worker: workerOfRow(row),
    model: row.model,
    lastSequence: Number(row.last_seq),
    runningRunId: row.running_run_id ?? "",
    lastStopReason: (row.last_stop_reason ?? StopReason.UNSPECIFIED) as StopReason,
    archived: row.archived,
    forkedFrom: row.forked_from ?? "",
    forkedAtSequence: Number(row.forked_at),
    imported: row.imported,
    cost: { nanoDollars: BigInt(row.cost), unpricedCalls: row.unpriced_calls },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function workerOfRow(row: SessionRow): WorkerFacts | undefined {
  const { parent_session_id: parentSessionId, parent_run_id: parentRunId, work_session_id: workspaceSessionId } = row;
  if (parentSessionId === null || parentRunId === null || workspaceSessionId === null) return undefined;
  return { parentSessionId, parentRunId, workspaceSessionId, depth: row.worker_depth, agentType: row.agent_type };
}
