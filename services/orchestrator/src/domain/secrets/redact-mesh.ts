import { create } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { MessageSchema, PartSchema, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ApprovalSchema, type Approval, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ToolOutput_Stream, ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { TextRedactor } from "@hlvm/redaction/text-redactor";
import { ModelFailure } from "../loop/model-failure.ts";
import type { Memory, Mesh, ModelEvent, Models, Policy, Sandbox, ToolEvent } from "../loop/ports.ts";
import type { RunSecrets } from "./run-secrets.ts";

/**
 * The other services as a run sees them: no text of theirs comes in with a secret in it, errors included, and the model
 * alone is given those that were allowed. Calls go out as they are: what was granted runs.
 */
export function redactMesh(mesh: Mesh, secrets: RunSecrets): Mesh {
  return {
    models: redactModels(mesh.models, secrets),
    doorModels: mesh.doorModels,
    policy: redactPolicy(mesh.policy, secrets),
    audit: mesh.audit,
    sandbox: redactSandbox(mesh.sandbox, secrets),
    trust: { check: (workspace, files, signal) => clean(mesh.trust.check(workspace, files, signal), secrets) },
    memory: redactMemory(mesh.memory, secrets),
  };
}

function redactModels(models: Models, secrets: RunSecrets): Models {
  return {
    resolve: (model, signal, wanted) => models.resolve(model, signal, wanted),
    // A mark is about as long as what it stands for, and a count needs no secret.
    countTokens: (request, signal) => clean(models.countTokens(request, signal), secrets),
    async *generate(request, signal) {
      const text = secrets.redactor();
      const thinking = secrets.redactor();
      try {
        const messages = request.messages.map((message) => revealMessage(message, secrets));
        for await (const event of models.generate({ ...request, messages }, signal)) {
          // A piece that is held back is a heartbeat all the same.
          if (event.case === "textDelta") yield { case: "textDelta", value: text.push(event.value) };
          else if (event.case === "thinkingDelta") yield { case: "thinkingDelta", value: thinking.push(event.value) };
          // It may come in the middle of a secret.
          else if (event.case === "alive") yield event;
          else {
            yield* held(text, thinking);
            yield* redactModelEvent(event, secrets);
          }
        }
        yield* held(text, thinking);
      } catch (thrown) {
        yield* held(text, thinking);
        throw redactError(thrown, secrets);
      }
    },
  };
}

function* held(text: TextRedactor, thinking: TextRedactor): Generator<ModelEvent, void> {
  const thought = thinking.end();
  if (thought !== "") yield { case: "thinkingDelta", value: thought };
  const said = text.end();
  if (said !== "") yield { case: "textDelta", value: said };
}

/** A tool call keeps its arguments, since they are what runs. Thinking that had a secret in it no longer fits the provider's signature and is left out. */
function* redactModelEvent(event: ModelEvent, secrets: RunSecrets): Generator<ModelEvent, void> {
  if (event.case === "thinking" && secrets.redact(event.value.text) !== event.value.text) return;
  if (event.case === "servedBy") yield { case: "servedBy", value: { ...event.value, why: secrets.redact(event.value.why) } };
  else if (event.case === "finish") yield { case: "finish", value: { ...event.value, detail: secrets.redact(event.value.detail) } };
  else yield event;
}

function revealMessage(message: Message, secrets: RunSecrets): Message {
  return create(MessageSchema, { ...message, parts: message.parts.map((part) => revealPart(part, secrets)) });
}

function revealPart({ part }: Part, secrets: RunSecrets): Part {
  switch (part.case) {
    case "text":
      return create(PartSchema, { part: { case: "text", value: secrets.reveal(part.value) } });
    case "toolCall": {
      const argumentsJson = secrets.revealArguments(part.value.argumentsJson);
      return create(PartSchema, { part: { case: "toolCall", value: { ...part.value, argumentsJson } } });
    }
    case "toolResult": {
      const content = secrets.reveal(part.value.content);
      return create(PartSchema, { part: { case: "toolResult", value: { ...part.value, content } } });
    }
    default:
      return create(PartSchema, { part });
  }
}

function redactSandbox(sandbox: Sandbox, secrets: RunSecrets): Sandbox {
  return {
    openWorkspace: (sessionId, path, signal) => clean(sandbox.openWorkspace(sessionId, path, signal), secrets),
    closeWorkspace: (sessionId) => clean(sandbox.closeWorkspace(sessionId), secrets),
    async readInstructions(sessionId, folders, signal) {
      const { workspace, files, identity } = await clean(sandbox.readInstructions(sessionId, folders, signal), secrets);
      return { workspace, identity, files: files.map((file) => ({ ...file, text: secrets.redact(file.text) })) };
    },
    copyWorkspace: (copy, signal) => clean(sandbox.copyWorkspace(copy, signal), secrets),
    rewind: (sessionId, request) => clean(sandbox.rewind(sessionId, request), secrets),
    preview: (call, signal) => clean(sandbox.preview(call, signal), secrets),
    async receipt(sessionId, callId) {
      const receipt = await clean(sandbox.receipt(sessionId, callId), secrets);
      return receipt.state === "done" ? { state: "done", result: await redactResult(receipt.result, secrets) } : receipt;
    },
    async *execute(call, grant, timeoutMilliseconds, signal) {
      const redactors = new Map<ToolOutput_Stream, TextRedactor>();
      try {
        for await (const event of sandbox.execute(call, grant, timeoutMilliseconds, signal)) {
          if ("result" in event) {
            yield* heldOutput(redactors);
            yield { result: await redactResult(event.result, secrets) };
            continue;
          }
          if ("waiting" in event) {
            yield event;
            continue;
          }
          const { stream } = event.output;
          const redactor = redactors.get(stream) ?? secrets.redactor();
          redactors.set(stream, redactor);
          yield { output: { ...event.output, text: redactor.push(event.output.text) } };
        }
      } catch (thrown) {
        yield* heldOutput(redactors);
        throw redactError(thrown, secrets);
      }
    },
  };
}

function* heldOutput(redactors: ReadonlyMap<ToolOutput_Stream, TextRedactor>): Generator<ToolEvent, void> {
  for (const [stream, redactor] of redactors) {
    const text = redactor.end();
    if (text !== "") yield { output: { $typeName: "hlvm.tool.v1.ToolOutput", stream, text } };
  }
}

function redactMemory(memory: Memory, secrets: RunSecrets): Memory {
  return {
    registerProject: (workspace, identity, signal) => clean(memory.registerProject(workspace, identity, signal), secrets),
    async recall(asked, signal) {
      const { facts, moreExist, notice } = await clean(memory.recall(asked, signal), secrets);
      return { facts: facts.map((fact) => secrets.redact(fact)), moreExist, notice: secrets.redact(notice) };
    },
    recordAnswer: (asked, answer) => clean(memory.recordAnswer(asked, answer), secrets),
    async execute(call, grant, workspace, timeoutMilliseconds, signal) {
      return redactResult(await clean(memory.execute(call, grant, workspace, timeoutMilliseconds, signal), secrets), secrets);
    },
  };
}

function redactPolicy(policy: Policy, secrets: RunSecrets): Policy {
  return {
    async decide(call, attested, signal) {
      const { verdict, recordedCallIds } = await clean(policy.decide(call, attested, signal), secrets);
      return { verdict: redactVerdict(verdict, secrets), recordedCallIds };
    },
    async awaitApproval(approvalId, signal) {
      const verdict = await clean(policy.awaitApproval(approvalId, signal), secrets);
      return verdict === undefined ? undefined : redactVerdict(verdict, secrets);
    },
    async judge(calls, signal) {
      return (await clean(policy.judge(calls, signal), secrets)).map((verdict) => redactVerdict(verdict, secrets));
    },
    // For the person alone: no log has it.
    attachPreview: (approvalId, preview, signal) => clean(policy.attachPreview(approvalId, preview, signal), secrets),
    withdrawApprovals: (runId) => clean(policy.withdrawApprovals(runId), secrets),
  };
}

function redactVerdict(verdict: Verdict, secrets: RunSecrets): Verdict {
  const { rule, reason, approval, personAnswer } = verdict;
  return {
    ...verdict,
    rule: secrets.redact(rule),
    reason: secrets.redact(reason),
    approval: approval === undefined ? undefined : redactApproval(approval, secrets),
    personAnswer: personAnswer && { ...personAnswer, text: secrets.redact(personAnswer.text) },
  };
}

/**
 * An approval as the log has it. Where the arguments hold a secret they are redacted here, and whatever else was made of them
 * is left out: the person is shown the real ones, which policy keeps with the approval and deletes once it is used. That
 * these are others than will run is told by `arguments_hash`.
 */
function redactApproval(approval: Approval, secrets: RunSecrets): Approval {
  const argumentsJson = secrets.redactArguments(approval.argumentsJson);
  if (argumentsJson === approval.argumentsJson) return { ...approval, reason: secrets.redact(approval.reason) };
  const { approvalId, sessionId, runId, callId, tool, argumentsHash, safetyLevel, state, kind } = approval;
  const { requestedAt, expiresAt, requestedBy, answeredBy, answeredAt } = approval;
  const who = { requestedAt, expiresAt, requestedBy, answeredBy, answeredAt };
  const what = { approvalId, sessionId, runId, callId, tool, argumentsHash, safetyLevel, state, kind };
  return create(ApprovalSchema, { ...what, ...who, argumentsJson, reason: secrets.redact(approval.reason) });
}

/** A tool's result as everybody sees it. */
export async function redactResult(result: ToolResult, secrets: RunSecrets): Promise<ToolResult> {
  return { ...result, content: await secrets.redactInTurns(result.content), summary: secrets.redact(result.summary) };
}

async function clean<T>(work: Promise<T>, secrets: RunSecrets): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    throw redactError(thrown, secrets);
  }
}

function redactError(thrown: unknown, secrets: RunSecrets): unknown {
  if (!(thrown instanceof HlvmError || thrown instanceof ModelFailure)) return thrown;
  const message = secrets.redact(thrown.message);
  const advice = secrets.redact(thrown.advice);
  if (message === thrown.message && advice === thrown.advice) return thrown;
  // The cause has the text as it was.
  if (thrown instanceof HlvmError) return new HlvmError({ code: thrown.code, reason: thrown.reason, message, advice });
  return new ModelFailure({ errorClass: thrown.errorClass, message, advice, isConnectionLost: thrown.isConnectionLost });
}
