import { randomUUID } from "node:crypto";
import { clone, create } from "@bufbuild/protobuf";
import type { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { Principal } from "@hlvm/identity/principal";
import {
  AnswerApprovalRequestSchema,
  PermissionSettingsSchema,
  type AnswerApprovalRequest,
  type Approval,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  ForkSessionRequestSchema,
  StartRunRequestSchema,
  UndoToTurnRequestSchema,
  type ForkSessionRequest,
  type StartRunRequest,
  type UndoToTurnRequest,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Teams } from "./teams.ts";
import type { PutGrantRequest, RemoveGrantRequest, TakeSessionRequest } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import type { AllowMemoryWorkRequest, LabelSessionRequest } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { BudgetScope, PutBudgetRequestSchema, type PutBudgetRequest } from "@hlvm/proto/hlvm/session/v1/spending_pb";

/** The requests as the orchestrator gets them. */
export interface DelegateRun {
  (principal: Principal, request: StartRunRequest): Promise<StartRunRequest>;
  /**
   * A person's answer. Where it accepts a plan, the run of the plan goes on with the settings under which it was made, in the
   * mode that they chose. @param asked the approval as policy has it
   */
  readonly answer: (principal: Principal, request: AnswerApprovalRequest, asked: Approval) => Promise<AnswerApprovalRequest>;
  /** What the undo of a person lets the orchestrator do for them: with settings of which none was made. */
  readonly undo: (principal: Principal, request: UndoToTurnRequest) => UndoToTurnRequest;
  /** The same of a change of who may use a session. */
  readonly sharing: <Request extends PutGrantRequest | RemoveGrantRequest | TakeSessionRequest>(
    principal: Principal,
    request: Request,
  ) => Request;
  /** The same of a fork. */
  readonly fork: (principal: Principal, request: ForkSessionRequest) => ForkSessionRequest;
  /** What the change of a budget lets it do: have it recorded. It is of a session where the budget is. */
  readonly budgetChange: (principal: Principal, request: PutBudgetRequest) => PutBudgetRequest;
  /** What lets it have a model look at what memory holds of them: as them, with their teams, and with settings of which none was made. */
  readonly memoryWork: <Request extends AllowMemoryWorkRequest | LabelSessionRequest>(
    principal: Principal,
    request: Request,
  ) => Promise<Request>;
}

/**
 * Chooses the ids of a run, and of its session where it makes one, and signs for them what the person lets the run do: who
 * they are, with their teams, and the settings as they set them. Nobody behind the edge can choose or change any of it. The id of a session whose
 * workspace was prepared is the client's choice: the sandbox service opens it for who prepared it and for nobody else.
 */
export function createDelegateRun(delegations: DelegationSigner, teams: Teams): DelegateRun {
  const withTeams = async (principal: Principal): Promise<Principal> => ({ ...principal, teams: await teams.of(principal) });
  const delegateRun = async (person: Principal, request: StartRunRequest): Promise<StartRunRequest> => {
    const principal = await withTeams(person);
    const runId = randomUUID();
    const newSessionId = request.sessionId === "" ? request.preparedSessionId || randomUUID() : "";
    const settings = request.settings ?? create(PermissionSettingsSchema);
    const delegation = delegations.sign({ principal, sessionId: request.sessionId || newSessionId, runId, settings });
    return Object.assign(clone(StartRunRequestSchema, request), { newSessionId, runId, delegation });
  };
  const withoutSettings = (principal: Principal, sessionId: string): { runId: string; delegation: string } => {
    const runId = randomUUID();
    return { runId, delegation: delegations.sign({ principal, sessionId, runId, settings: create(PermissionSettingsSchema) }) };
  };
  const undo = (principal: Principal, request: UndoToTurnRequest): UndoToTurnRequest =>
    Object.assign(clone(UndoToTurnRequestSchema, request), withoutSettings(principal, request.sessionId));
  const sharing = <Request extends PutGrantRequest | RemoveGrantRequest | TakeSessionRequest>(
    principal: Principal,
    request: Request,
  ): Request => ({
    ...request,
    ...withoutSettings(principal, request.sessionId),
  });
  const fork = (principal: Principal, request: ForkSessionRequest): ForkSessionRequest =>
    Object.assign(clone(ForkSessionRequestSchema, request), withoutSettings(principal, request.sessionId));
  const budgetChange = (principal: Principal, request: PutBudgetRequest): PutBudgetRequest => {
    const sessionId = request.scope === BudgetScope.SESSION ? request.subject : randomUUID();
    return Object.assign(clone(PutBudgetRequestSchema, request), { sessionId, ...withoutSettings(principal, sessionId) });
  };
  const memoryWork = async <Request extends AllowMemoryWorkRequest | LabelSessionRequest>(
    person: Principal,
    request: Request,
  ): Promise<Request> => {
    const sessionId = randomUUID();
    return { ...request, sessionId, ...withoutSettings(await withTeams(person), sessionId) };
  };
  const answer = async (
    person: Principal,
    request: AnswerApprovalRequest,
    { sessionId, runId, settings }: Approval,
  ): Promise<AnswerApprovalRequest> => {
    const principal = await withTeams(person);
    const chosen = Object.assign(clone(PermissionSettingsSchema, settings ?? create(PermissionSettingsSchema)), { mode: request.mode });
    const delegation = delegations.sign({ principal, sessionId, runId, settings: chosen });
    return Object.assign(clone(AnswerApprovalRequestSchema, request), { delegation });
  };
  return Object.assign(delegateRun, { undo, sharing, fork, budgetChange, memoryWork, answer });
}
