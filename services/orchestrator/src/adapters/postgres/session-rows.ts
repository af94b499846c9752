import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "../../domain/session/session.ts";

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
  readonly cost: string;
  readonly unpriced_calls: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const SESSION_COLUMNS = `
  session_id, owner, title, workspace, git_repository, git_branch, stateless, secret_key, model, last_seq, archived, forked_from, forked_at, imported, cost, unpriced_calls, created_at, updated_at,
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
