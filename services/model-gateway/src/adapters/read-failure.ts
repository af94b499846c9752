import { messageOf } from "@hlvm/errors/message-of";
import { classifyFailure } from "../domain/classify-failure.ts";
import { ModelError } from "../domain/model-error.ts";
import { fieldsOf, type Fields } from "./fields-of.ts";

/** What an HTTP answer or a provider's SDK says of a failure. */
interface FailureFacts {
  readonly status?: number | undefined;
  readonly headers?: Pick<Headers, "get"> | undefined;
  /** The parsed body, or the error object inside it. */
  readonly body?: unknown;
  readonly cause: unknown;
}

const DEEPEST_CAUSE = 5;

/** Whatever went wrong with a provider, as the error that the domain knows. */
export function readFailure(provider: string, facts: FailureFacts): ModelError {
  const own = [...causes(facts.cause)].find((each) => each instanceof ModelError);
  if (own !== undefined) return own;
  const outer = fieldsOf(Array.isArray(facts.body) ? facts.body[0] : facts.body);
  const error = typeof outer.error === "string" ? { ...outer, message: outer.error } : fieldsOf(outer.error ?? outer);
  const details = Array.isArray(error.details) ? error.details.map(fieldsOf) : [fieldsOf(error.details)];
  const codes = words([...details.map((detail) => detail.error_code), error.code, error.type, error.status]);
  return classifyFailure(provider, {
    status: facts.status ?? (typeof error.code === "number" ? error.code : undefined),
    names: [...codes, ...words([...causes(facts.cause)].flatMap((each) => [fieldsOf(each).code, fieldsOf(each).name]))],
    providerCode: codes[0] ?? "",
    message: typeof error.message === "string" ? error.message : innermostMessage(facts.cause),
    retryAfterMilliseconds: retryAfterHeader(facts.headers) ?? retryDelay(details) ?? 0,
    cause: facts.cause,
  });
}

function* causes(thrown: unknown): Generator<unknown> {
  for (let each = thrown, depth = 0; each instanceof Error && depth < DEEPEST_CAUSE; each = each.cause, depth++) {
    yield each;
    // Node tries every address of a name, and puts the failures into one error.
    if (each instanceof AggregateError) yield* each.errors.slice(0, 1);
  }
}

function words(values: readonly unknown[]): string[] {
  return values.filter((value): value is string => typeof value === "string" && value !== "");
}

function innermostMessage(thrown: unknown): string {
  const messages = [...causes(thrown)].map(messageOf).filter((message) => message !== "");
  return messages.at(-1) ?? messageOf(thrown);
}

/** Seconds or a date, or milliseconds where OpenAI and Anthropic say so. */
function retryAfterHeader(headers: FailureFacts["headers"]): number | undefined {
  const milliseconds = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get("retry-after");
  if (text === undefined || text === null) return undefined;
  const seconds = Number(text);
  const until = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000;
  return Number.isNaN(until) ? undefined : Math.max(0, until);
}

/** Google's RetryInfo, for example `34.4s`. */
function retryDelay(details: readonly Fields[]): number | undefined {
  const delay = details.map((detail) => detail.retryDelay).find((each) => typeof each === "string");
  const seconds = Number.parseFloat(delay ?? "");
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}
