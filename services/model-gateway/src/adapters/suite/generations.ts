import type { Delta, Generation, Message, AnswerEvent } from "../../domain/generation.ts";
import { generate } from "../../domain/generate.ts";
import { KeyRing } from "../../domain/key-ring.ts";
import type { Provider } from "../../domain/provider.ts";
import type { Target } from "../../domain/target.ts";

export const tools: Generation["tools"] = [
  {
    name: "read_file",
    description: "Read a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
  { name: "list_files", description: "List files.", inputSchema: { type: "object", properties: {} } },
];

export function generationOf(model: string, messages: readonly Message[]): Generation {
  return { model, messages, tools, maximumOutputTokens: 100, temperature: undefined };
}

export function said(role: Message["role"], text: string): Message {
  return { role, parts: [{ kind: "text", text }] };
}

export async function collect<T>(deltas: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const delta of deltas) into.push(delta);
  return into;
}

/** A provider's model with one key, and nothing known of how it fares. */
export function targetOf(providerName: string, provider: Provider, model: string): Target {
  return { providerName, name: model, keys: new KeyRing([{ ending: "", provider }]) };
}

const never = new AbortController().signal;

/** Asks a provider once. */
export function ask(provider: Provider, generation: Generation, signal = never, heard: () => void = () => undefined): Promise<Delta[]> {
  return collect(provider.generate(generation, signal, heard));
}

export function textIn(deltas: readonly AnswerEvent[]): string {
  return deltas.flatMap((delta) => (delta.kind === "text" ? [delta.text] : [])).join("");
}

export function partsOf(deltas: readonly Delta[]): Message {
  return {
    role: "assistant",
    parts: deltas.filter((delta) => delta.kind === "text" || delta.kind === "thinking" || delta.kind === "tool-call"),
  };
}

/** As the gateway asks: once more where the server has just ended the connection. */
export function askAgain(providerName: string, provider: Provider, generation: Generation): Promise<AnswerEvent[]> {
  const signal = new AbortController().signal;
  return collect(
    generate(targetOf(providerName, provider, generation.model), generation, {
      signal,
      remainingMilliseconds: undefined,
      onRetry: () => undefined,
    }),
  );
}
