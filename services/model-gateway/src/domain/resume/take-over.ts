import { Attempt } from "../attempt.ts";
import type { AnswerEvent } from "../generation.ts";
import { Heartbeats } from "../heartbeats.ts";
import type { FoundProvider } from "../model-catalogue.ts";
import { notResumable } from "./not-resumable.ts";

/**
 * An answer from its beginning that its server goes on with, although the gateway that asked for it is gone.
 * @throws ModelError, and HlvmError `resume_not_possible`
 */
export async function* takeOver(found: FoundProvider, answerName: string, signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
  const { provider, name } = found;
  if (provider.resume === undefined) throw notResumable(`${found.providerName} gives it no more`);
  const heartbeats = new Heartbeats();
  const deltas = provider.resume({ model: name, answerName }, signal, heartbeats.heard);
  yield* heartbeats.among(() => new Attempt(found, deltas));
}
