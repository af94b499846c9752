import type { DescField, DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { TokenScope } from "@hlvm/proto/hlvm/identity/v1/identity_pb";

/** Values by the name of the field that they go into. */
export type FilledFields = Readonly<Record<string, string>>;

const DEEPEST = 2;
/** Lists that may not be empty. */
const FILLED_LISTS: ReadonlySet<string> = new Set(["messages", "calls"]);
const LISTS: Readonly<Record<string, readonly unknown[]>> = { scopes: [TokenScope.READ], texts: ["x"] };
/** What may not be 0. */
const NUMBERS: Readonly<Record<string, number>> = { maxCharacters: 1_000, seconds: 10 };
const WORDS: ReadonlySet<string> = new Set([
  "prompt",
  "label",
  "name",
  "text",
  "title",
  "query",
  "reason",
  "callId",
  "tool",
  "session",
  "key",
]);

/** A request of this kind with these values wherever one is asked for, and otherwise as little as the contract takes. */
export function requestFor<Message extends DescMessage>(message: Message, values: FilledFields, depth = 0): MessageInitShape<Message> {
  const fields = message.fields.filter(({ oneof }) => oneof === undefined);
  const filled: (readonly [string, unknown])[] = fields.map((field) => [field.localName, valueFor(field, values, depth)]);
  for (const { localName, fields: choices } of message.oneofs) {
    const chosen = choices.find((choice) => choice.localName in values);
    if (chosen !== undefined) filled.push([localName, { case: chosen.localName, value: values[chosen.localName] }]);
  }
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined)) as MessageInitShape<Message>;
}

function valueFor(field: DescField, values: FilledFields, depth: number): unknown {
  const { fieldKind, localName } = field;
  if (fieldKind === "list" && field.listKind === "message" && FILLED_LISTS.has(localName))
    return [requestFor(field.message, values, depth + 1)];
  if (fieldKind === "list") return LISTS[localName];
  if (fieldKind === "enum") return field.enum.values[1]?.number;
  if (fieldKind === "message")
    return depth > DEEPEST || field.message.typeName.startsWith("google.") ? undefined : requestFor(field.message, values, depth + 1);
  if (fieldKind !== "scalar") return undefined;
  if (localName in values) return values[localName];
  if (localName in NUMBERS) return NUMBERS[localName];
  if (WORDS.has(localName)) return "x";
  return localName === "userCode" ? "BBBBBBBB" : undefined;
}
