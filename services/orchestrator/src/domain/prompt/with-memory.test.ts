import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { MessageSchema, Role, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { withMemory } from "./with-memory.ts";

const message = (role: Role, text: string): Message => create(MessageSchema, { role, parts: [{ part: { case: "text", value: text } }] });
const textsOf = (messages: readonly Message[]): unknown[] => messages.map(({ parts }) => parts[0]!.part.value);

const earlier = [message(Role.USER, "first"), message(Role.ASSISTANT, "answer")];
const memory = message(Role.SYSTEM, "memory");

it("stands right before the run's question, whatever the run has said since", () => {
  const asked = [...earlier, message(Role.USER, "second")];
  const later = [...asked, message(Role.ASSISTANT, "call"), message(Role.TOOL, "result")];
  expect(textsOf(withMemory(asked, memory))).toEqual(["first", "answer", "memory", "second"]);
  expect(textsOf(withMemory(later, memory))).toEqual(["first", "answer", "memory", "second", "call", "result"]);
});

it("changes nothing where nothing was recalled", () => {
  expect(withMemory(earlier, undefined)).toEqual(earlier);
});
