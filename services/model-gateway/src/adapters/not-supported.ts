import { ModelError } from "../domain/model-error.ts";

/** What a provider or model cannot do is said before it is asked: its own refusal would come later and say less. */
export function notSupported(provider: string, what: string, advice: string): ModelError {
  return new ModelError({
    class: "permanent",
    code: "invalid_argument",
    reason: "request_not_supported",
    message: `${provider} cannot be asked for this: ${what}.`,
    advice,
    provider,
  });
}
