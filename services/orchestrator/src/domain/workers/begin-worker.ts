import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { narrowSettings } from "@hlvm/agents/narrow-settings";
import type { Narrowing } from "@hlvm/identity/delegation-narrower";
import type { Principal } from "@hlvm/identity/principal";
import { WorkerOriginSchema, type WorkerBudget } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventPayload } from "../log/event-payload.ts";
import type { Mesh } from "../loop/ports.ts";
import type { RunContext } from "../loop/run-context.ts";
import { compilePrefix } from "../prompt/compile-prefix.ts";
import type { BegunRun } from "../run/begun-run.ts";
import type { RunRegistry } from "../run/run-registry.ts";
import { redactMesh } from "../secrets/redact-mesh.ts";
import type { BudgetStore } from "../budget/budget-store.ts";
import { payerOf } from "../budget/payer.ts";
import { resolveModel } from "../run/resolve-model.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { WatchPorts } from "../session/watch-session.ts";
import { workspaceSessionOf } from "../session/session.ts";
import { titleOf } from "../session/title-of.ts";
import type { RunAgent } from "./run-agent.ts";
import type { WorkerIds } from "./worker-ids.ts";

/** What the workers of all runs of a process share. */
export interface WorkerPorts extends WatchPorts {
  readonly runs: Pick<RunRegistry, "begin" | "cancel">;
  readonly narrow: (delegation: string, narrowing: Narrowing) => string;
  /** The other services, called for a run. */
  readonly meshFor: (run: { readonly principal: Principal; readonly delegation: string }) => Mesh;
  readonly execute: (run: BegunRun, controller: AbortController) => Promise<void>;
  /** How far a worker may be below a run that is none. */
  readonly maximumDepth: number;
  readonly budgets: Pick<BudgetStore, "carve" | "giveBack">;
  /** Workers of one run that are at work at the same time. */
  readonly maximumAtOnce: number;
}

export interface WorkerAsked {
  readonly ids: WorkerIds;
  readonly callId: string;
  readonly task: string;
  readonly agent: RunAgent;
  readonly budget: WorkerBudget;
}

/**
 * Begins a worker's run in a session of its own: with the parent's workspace, person and delegation, narrowed by its profile.
 * @throws HlvmError where there is no such model, or the log cannot be written
 */
export async function beginWorker(
  { ids, callId, task, agent, budget }: WorkerAsked,
  parent: BegunRun,
  run: RunContext,
  ports: WorkerPorts,
): Promise<void> {
  const { session, authority, lease } = parent;
  const { principal } = authority;
  const settings = narrowSettings(authority.settings, agent.profile);
  const delegation = ports.narrow(authority.delegation, { runId: ids.runId, settings });
  const mesh = ports.meshFor({ principal, delegation });
  const model =
    agent.profile.model === "" ? run.model : await resolveModel(mesh.models, agent.profile.model, { task, needs: {} }, run.signal);
  const secrets = new RunSecrets(session.secretKey, []);
  const question = await secrets.redactInTurns(task);
  const depth = (session.worker?.depth ?? 0) + 1;
  const facts = {
    ...session,
    sessionId: ids.sessionId,
    title: titleOf(question),
    worker: {
      parentSessionId: lease.sessionId,
      parentRunId: lease.runId,
      workspaceSessionId: workspaceSessionOf(session),
      depth,
      agentType: agent.profile.name,
    },
  };
  const prefix = compilePrefix(facts, model, agent);
  const origin = create(WorkerOriginSchema, {
    parentSessionId: lease.sessionId,
    parentRunId: lease.runId,
    callId,
    depth,
    budget,
    trustFloor: run.context.floor,
  });
  const events = [
    eventPayload("userMessage", { text: question }),
    eventPayload("runStarted", {
      model: model.id,
      workspace: session.workspace,
      settings,
      prefixHash: prefix.hash,
      resolvedModel: model,
      agent: agent.profile,
      workerProfiles: [...agent.own],
      origin,
      budget: parent.budget,
    }),
  ];
  const childLease = { ...ids, owner: randomUUID() };
  const begun: BegunRun = {
    lease: childLease,
    principal: parent.principal,
    authority: { principal, delegation, settings },
    agent,
    ...payerOf(principal),
    allowance: budget,
    budget: parent.budget,
    session: facts,
    question,
    model,
    prefix,
    mesh: redactMesh(mesh, secrets),
    secrets,
    appended: events.length,
    wholeLog: events,
  };
  const asking = {
    organization: principal.organization,
    principal: parent.principal,
    delegation,
    lease: childLease,
    model: model.id,
    events,
    files: [],
  };
  const begin = async (): Promise<void> => void (await ports.store.beginRun({ ...asking, session: { isNew: true, facts } }));
  await ports.runs.begin(childLease, begin, (controller) => ports.execute(begun, controller));
}
