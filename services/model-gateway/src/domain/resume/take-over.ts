import { AnswerWithHeartbeats } from "../answer-with-heartbeats.ts";
import { Attempt } from "../attempt.ts";
import type { AnswerEvent } from "../generation.ts";
import type { FoundProvider } from "../model-catalogue.ts";
import { notResumable } from "./not-resumable.ts";

/**
 * An answer from its beginning that its server goes on with, although the gateway that asked for it is gone.
 * @throws ModelError, and HlvmError `resume_not_possible`
 */
export function takeOver(found: FoundProvider, answerName: string, signal: AbortSignal): AsyncIterableIterator<AnswerEvent, void> {
  const { provider, providerName, name } = found;
  return new AnswerWithHeartbeats((heard) => {
    if (provider.resume === undefined) throw notResumable(`${providerName} gives it no more`);
    return new Attempt(found, provider.resume({ model: name, answerName }, signal, heard));
  });
}
