import { ModelError } from "../domain/model-error.ts";
import { readFailure } from "./read-failure.ts";

const LARGEST_BODY_CHARACTERS = 64 * 1024;
const SHOWN_CHARACTERS = 500;

export function isEventStream(response: Response): boolean {
  return response.ok && response.headers.get("content-type")?.includes("text/event-stream") === true;
}

/** What a provider means by an answer that is no stream of events: mostly an error, sometimes a page of something else. */
export async function readRefusal(provider: string, response: Response): Promise<ModelError> {
  const text = (await response.text()).slice(0, LARGEST_BODY_CHARACTERS);
  const body = parsed(text);
  const { status, headers } = response;
  const saysError = typeof body === "object" && body !== null && "error" in body;
  if (response.ok && !saysError) return notAStream(provider, headers.get("content-type") ?? "no content type");
  return readFailure(provider, {
    status: response.ok ? undefined : status,
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
