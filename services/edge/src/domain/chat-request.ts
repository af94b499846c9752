import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PERMISSION_MODES, type PermissionModeName } from "@hlvm/ndjson/permission-mode-name";

/** What a chat request asks for. */
export interface ChatRequest {
  readonly prompt: string;
  /** Empty: the session's, else the default. */
  readonly model: string;
  /** Empty: a new session. */
  readonly sessionId: string;
  /** An absolute path; empty only with a session. */
  readonly workspace: string;
  readonly permissionMode: PermissionModeName;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly stateless: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const FIELDS = ["messages", "model", "session_id", "workspace", "permission_mode", "allowed_tools", "disallowed_tools", "stateless"];
const ROLES = ["system", "user", "assistant"];

/**
 * Reads the body of a chat request. The prompt is the last message of role `user`; the ones before it are not read,
 * since the session keeps the conversation.
 * @throws HlvmError `invalid_chat_request`
 */
export function readChatRequest(body: string): ChatRequest {
  const fields = object(parse(body), "The body");
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw invalid(`There is no field ${JSON.stringify(unknown)}`, `The fields are ${FIELDS.join(", ")}.`);
  const sessionId = text(fields, "session_id");
  const workspace = text(fields, "workspace");
  if (workspace === "" && sessionId === "")
    throw invalid(
      "`workspace` is missing",
      "Give the absolute path of the folder to work in, or the `session_id` of a session to go on with.",
    );
  if (workspace !== "" && !workspace.startsWith("/")) throw invalid("`workspace` is not an absolute path", "Begin it with a slash.");
  return {
    prompt: prompt(fields.messages),
    model: text(fields, "model"),
    sessionId,
    workspace,
    permissionMode: permissionMode(text(fields, "permission_mode")),
    allowedTools: texts(fields, "allowed_tools"),
    disallowedTools: texts(fields, "disallowed_tools"),
    stateless: flag(fields, "stateless"),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw invalid(
      `The body is not JSON (${(cause as Error).message})`,
      'Send an object: {"messages": [{"role": "user", "content": "…"}], "workspace": "/…"}.',
    );
  }
}

function prompt(messages: unknown): string {
  if (!Array.isArray(messages))
    throw invalid(
      "`messages` is not a list",
      "Give a list with the question as its last user message; what came before is kept by the session (`session_id`).",
    );
  const read = messages.map((message, index) => {
    const { role, content } = object(message, `\`messages[${index}]\``);
    if (typeof role !== "string" || !ROLES.includes(role))
      throw invalid(`\`messages[${index}].role\` is wrong`, `Give one of ${ROLES.join(", ")}.`);
    if (typeof content !== "string") throw invalid(`\`messages[${index}].content\` is not a text`, "Give the message as one string.");
    return { role, content };
  });
  const last = read.findLast(({ role }) => role === "user");
  if (last === undefined || last.content.trim() === "")
    throw invalid("There is no question in `messages`", "Give a message of role user that is not empty.");
  return last.content;
}

function permissionMode(word: string): PermissionModeName {
  if (word === "") return "dontAsk";
  const known = PERMISSION_MODES.find((mode) => mode === word);
  if (known === undefined)
    throw invalid(`There is no permission mode ${JSON.stringify(word)}`, `Give one of ${PERMISSION_MODES.join(", ")}.`);
  return known;
}

function object(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${name} is not an object`, "Send a JSON object.");
  return value as Fields;
}

function text(fields: Fields, name: string): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw invalid(`\`${name}\` is not a text`, "Give a string.");
  return value;
}

function texts(fields: Fields, name: string): string[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw invalid(`\`${name}\` is not a list of texts`, "Give a list of strings.");
  return value;
}

function flag(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean") throw invalid(`\`${name}\` is neither true nor false`, "Give true or false.");
  return value;
}

function invalid(what: string, advice: string): HlvmError {
  return new HlvmError({ code: "invalid_argument", reason: "invalid_chat_request", message: `${what}.`, advice });
}
