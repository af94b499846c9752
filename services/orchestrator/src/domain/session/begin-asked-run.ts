import { randomUUID } from "node:crypto";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Attachment, Replay, UserMessage } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { payerOf } from "../budget/payer.ts";
import { personalInstructions } from "../instructions/personal-instructions.ts";
import { eventPayload } from "../log/event-payload.ts";
import { compilePrefix } from "../prompt/compile-prefix.ts";
import type { BegunRun } from "../run/begun-run.ts";
import { redactMesh } from "../secrets/redact-mesh.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { GENERAL_AGENT } from "../workers/run-agent.ts";
import type { AttachedFile } from "./attached-files.ts";
import type { SessionFacts } from "./session.ts";
import type { RunAsked, RunStarter, StartedRun } from "./start-run.ts";
import { redactAttachments } from "./take-attachments.ts";
import { titleOf } from "./title-of.ts";

/** How a run begins that takes up what was asked before. */
export interface Opening {
  readonly question: string;
  /** As it was asked; undefined where the conversation has it already. */
  readonly said?: UserMessage;
}

export interface RunToBegin {
  readonly isNew: boolean;
  /** Of a new session its title is the beginning of what is asked. */
  readonly facts: Omit<SessionFacts, "title"> & { readonly title?: string };
  readonly model: Model;
  readonly attachments: readonly Attachment[];
  readonly files: readonly AttachedFile[];
  readonly replay?: Replay;
  /** Instead of what is asked now. */
  readonly opening?: Opening;
}

/** Writes what was asked into the log and has the run begin. @throws HlvmError `run_in_progress`, `session_not_found`; nothing runs then */
export async function beginAskedRun(asked: RunAsked, toBegin: RunToBegin, starter: RunStarter): Promise<StartedRun> {
  const { isNew, model, attachments, files, replay, opening } = toBegin;
  const { sessionId, principal, delegation, settings, agent, budget } = asked;
  const secrets = new RunSecrets(toBegin.facts.secretKey, asked.allowedSecrets);
  const question = opening?.question ?? (await secrets.redactInTurns(asked.prompt));
  const facts: SessionFacts = { ...toBegin.facts, title: toBegin.facts.title ?? titleOf(question) };
  const prefix = compilePrefix(facts, model, agent);
  const lease = { sessionId, runId: asked.runId, owner: randomUUID() };
  const said =
    opening === undefined
      ? eventPayload("userMessage", { text: question, attachments: await redactAttachments(attachments, secrets) })
      : opening.said && eventPayload("userMessage", opening.said);
  const isQueued = starter.runs.isFull;
  const events = [
    ...(said === undefined ? [] : [said]),
    eventPayload("runStarted", {
      model: model.id,
      workspace: facts.workspace,
      settings,
      ...(agent.profile === GENERAL_AGENT.profile ? {} : { agent: agent.profile }),
      workerProfiles: [...agent.own],
      prefixHash: prefix.hash,
      allowedSecrets: [...asked.allowedSecrets],
      resolvedModel: model,
      budget,
      replay,
    }),
    ...personalInstructions(asked.personalInstructions, secrets),
    ...(isQueued ? [eventPayload("runQueued", {})] : []),
  ];
  const session = { isNew, facts };
  const { organization, id } = principal;
  const asking = { organization, principal: id, delegation, session, lease, model: model.id, events, budget, files };
  const begun: BegunRun = {
    lease,
    principal: id,
    authority: { principal, delegation, settings },
    agent,
    ...payerOf(principal),
    budget,
    session: facts,
    question,
    model,
    prefix,
    mesh: redactMesh(starter.mesh, secrets),
    secrets,
    appended: events.length,
    wholeLog: isNew ? events : undefined,
    replay,
  };
  let sequence = 0;
  const begin = async (): Promise<void> => {
    sequence = await starter.store.beginRun(asking);
  };
  if (isQueued) await starter.runs.beginQueued(lease, begin);
  else await starter.runs.begin(lease, begin, (controller) => starter.execute(begun, controller));
  return { sessionId, runId: lease.runId, sequence, model: model.id };
}
