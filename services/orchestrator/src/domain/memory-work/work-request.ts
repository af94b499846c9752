import { create } from "@bufbuild/protobuf";
import { CallPriority, GenerateRequestSchema, Role, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { LABEL_REQUEST } from "@hlvm/transcripts/labels/label-request";
import { FACT_REQUEST } from "./fact-request.ts";
import type { WorkItem } from "./model-work.ts";

const ANSWER_TOKENS = 1_500;

/** A request about one item and no other: its text comes as data, in a message of its own. */
export function workRequest(model: string, { kind, text }: Pick<WorkItem, "kind" | "text">): GenerateRequest {
  const { name, system, schema } = kind === "session" ? LABEL_REQUEST : FACT_REQUEST;
  const message = (role: Role, said: string) => ({ role, parts: [{ part: { case: "text" as const, value: said } }] });
  return create(GenerateRequestSchema, {
    model,
    messages: [message(Role.SYSTEM, system), message(Role.USER, kind === "session" ? text : JSON.stringify({ fact: text }))],
    maxOutputTokens: ANSWER_TOKENS,
    outputFormat: { name, schemaJson: JSON.stringify(schema), strict: true },
    priority: CallPriority.BATCH,
  });
}
