import { ModelError } from "../domain/model-error.ts";
import type { Answer } from "./answer.ts";
import { fieldsOf } from "./fields-of.ts";
import { readFailure } from "./read-failure.ts";

const LARGEST_BODY_CHARACTERS = 64 * 1024;
const SHOWN_CHARACTERS = 500;

/** What a provider means by an answer that is no stream of events: mostly an error, sometimes a page of something else. */
export async function readRefusal(provider: string, answer: Answer): Promise<ModelError> {
  const text = (await answer.text()).slice(0, LARGEST_BODY_CHARACTERS);
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return redirected(provider, status, headers.get("location"));
  const body = parsed(text);
  const { error } = fieldsOf(body);
  const saysError = error !== undefined && error !== null;
  if (answer.ok && !saysError) return notAStream(provider, headers.get("content-type") ?? "no content type");
  return readFailure(provider, {
    status: answer.ok ? undefined : status,
    headers,
    body,
    cause: new Error(text.slice(0, SHOWN_CHARACTERS)),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function notAStream(provider: string, contentType: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "not_a_stream",
    message: `${provider} answered with ${contentType} in place of a stream of events.`,
    advice: "Check that its URL is that of a model server, with the /v1 where it has one.",
    provider,
  });
}

/** Not followed: the key would go to another server than the one it was given for. */
function redirected(provider: string, status: number, location: string | null): ModelError {
  const where = location === null ? "elsewhere" : `to ${location.slice(0, SHOWN_CHARACTERS).split(/[?#]/)[0]}`;
  return new ModelError({
    class: "permanent",
    reason: "redirected",
    message: `${provider} redirects ${where} (HTTP ${status}).`,
    advice: "Check that its URL is that of a model server; if it has moved, set its URL to where it is now.",
    provider,
  });
}
