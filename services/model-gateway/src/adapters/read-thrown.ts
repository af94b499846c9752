import type { ModelError } from "../domain/model-error.ts";
import { fieldsOf } from "./fields-of.ts";
import { readFailure } from "./read-failure.ts";

/** What was thrown while a provider was spoken to, as the error that the domain knows. Both SDKs keep status, headers and the body's error. */
export function readThrown(provider: string, thrown: unknown): ModelError {
  const error = fieldsOf(thrown);
  return readFailure(provider, {
    status: typeof error.status === "number" ? error.status : undefined,
    headers: error.headers instanceof Headers ? error.headers : undefined,
    body: error.error,
    cause: thrown,
  });
}
