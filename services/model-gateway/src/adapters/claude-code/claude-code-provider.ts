import type Anthropic from "@anthropic-ai/sdk";
import type { Delta, Generation } from "../../domain/generation.ts";
import { describeHosted, HOSTED_MODELS } from "../../domain/hosted-models.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { Provider } from "../../domain/provider.ts";
import { anthropicUsage, readAnthropicStream } from "../anthropic/anthropic-stream.ts";
import { Exchange } from "../exchange.ts";
import { fieldsOf, type Fields } from "../fields-of.ts";
import { CLAUDE_CODE, failureOf, tooMany } from "./claude-failure.ts";
import { ClaudeProcess, type ClaudeSettings } from "./claude-process.ts";
import { claudeRequest, MODEL_NAME, type ClaudeRequest } from "./claude-request.ts";

/** Each takes a few hundred megabytes. */
const MOST_PROCESSES = 8;

export interface ClaudeCodeOptions extends ClaudeSettings {
  readonly silenceMilliseconds?: number;
}

/**
 * The program claude of this machine, a process for each call, for conversations without tools: it takes tools from others over MCP
 * alone, and runs them itself, where no policy is asked.
 */
export class ClaudeCodeProvider implements Provider {
  readonly #options: ClaudeCodeOptions;
  #running = 0;

  constructor(options: ClaudeCodeOptions) {
    this.#options = options;
  }

  list(): Promise<readonly ModelDescription[]> {
    return Promise.resolve(HOSTED_MODELS.anthropic.map(withoutTools));
  }

  describe(name: string): Promise<ModelDescription | undefined> {
    return Promise.resolve(MODEL_NAME.test(name) ? withoutTools(describeHosted("anthropic", name)) : undefined);
  }

  async *generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    const request = claudeRequest(generation);
    if (this.#running >= MOST_PROCESSES) throw tooMany(MOST_PROCESSES);
    this.#running++;
    const exchange = new Exchange(CLAUDE_CODE, signal, heard, this.#options.silenceMilliseconds);
    let claude: ClaudeProcess | undefined;
    try {
      claude = await ClaudeProcess.start(this.#options, request.start, exchange);
      yield* answer(claude, request, generation.model);
      exchange.throwIfEnded();
    } catch (thrown) {
      throw exchange.failure(thrown);
    } finally {
      exchange.close();
      await claude?.end();
      this.#running--;
    }
  }
}

/** Its answer ends with the line that says so, with what it used: an answer without that was cut. */
async function* answer(claude: ClaudeProcess, { earlier, question }: ClaudeRequest, model: string): AsyncGenerator<Delta, void> {
  for (const line of earlier) {
    claude.write(line);
    // What was said goes in before what was answered to it only once the program has said that it took it.
    if (line.type === "user") while ((await claude.next()).type !== "result");
  }
  claude.write(question);
  let finish: (Delta & { kind: "finish" }) | undefined;
  let usage: Delta | undefined;
  for await (const delta of readAnthropicStream(model, events(claude))) {
    if (delta.kind === "finish") finish = delta;
    else if (delta.kind === "usage") usage = delta;
    else yield delta;
  }
  if (finish === undefined) return;
  // After a length or a refusal the program would ask again by itself, another model too: what was said until then is the answer.
  if (finish.reason !== "length" && finish.reason !== "refusal")
    usage = { kind: "usage", ...anthropicUsage(fieldsOf((await resultOf(claude)).usage)) };
  if (usage !== undefined) yield usage;
  yield finish;
}

/** The events of the API as the program passes them on. @throws ModelError where it ends with a failure, or without an end */
async function* events(claude: ClaudeProcess): AsyncGenerator<Anthropic.RawMessageStreamEvent, void> {
  for (let error = ""; ;) {
    const line = await claude.next();
    if (line.type === "assistant" && typeof line.error === "string") error = line.error;
    if (line.type === "result") throw failureOf(line, error);
    // After a failure it ends the message as if it were whole.
    if (line.type === "stream_event" && error === "") yield line.event as Anthropic.RawMessageStreamEvent;
  }
}

async function resultOf(claude: ClaudeProcess): Promise<Fields> {
  for (let error = ""; ;) {
    const line = await claude.next();
    if (line.type === "assistant" && typeof line.error === "string") error = line.error;
    if (line.type !== "result") continue;
    if (line.is_error === true) throw failureOf(line, error);
    return line;
  }
}

function withoutTools(model: ModelDescription): ModelDescription {
  return { ...model, capability: "chat", takesImages: false, takesDocuments: false };
}
