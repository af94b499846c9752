/** What stands in the events of a recorded stream, read without the adapters that are tried on them. */
export interface RecordedContent {
  readonly text: string;
  readonly thinking: string;
  /** Ids of the calls of tools that a caller offers. */
  readonly calls: readonly string[];
  readonly outputTokens: number | undefined;
}

type Event = Readonly<Record<string, unknown>>;

export function recordedContent(folder: string, lines: readonly string[]): RecordedContent {
  const events = lines.map((line) => JSON.parse(line) as Event);
  return folder === "anthropic" ? ofAnthropic(events) : folder === "openai-responses" ? ofOpenai(events) : ofChat(events);
}

function ofAnthropic(events: readonly Event[]): RecordedContent {
  const deltas = events.filter(({ type }) => type === "content_block_delta").map(({ delta }) => delta as Event);
  const blocks = events.filter(({ type }) => type === "content_block_start").map(({ content_block: block }) => block as Event);
  const joined = (field: string): string => deltas.map((delta) => (delta[field] as string | undefined) ?? "").join("");
  const usage = events.findLast(({ type }) => type === "message_delta")?.usage as Event | undefined;
  return {
    text: blocks.map(({ type, text }) => (type === "text" ? (text as string) : "")).join("") + joined("text"),
    thinking: joined("thinking"),
    calls: blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id as string),
    outputTokens: usage?.output_tokens as number | undefined,
  };
}

function ofOpenai(events: readonly Event[]): RecordedContent {
  const joined = (type: string): string => events.map((event) => (event.type === type ? (event.delta as string) : "")).join("");
  const items = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item as Event);
  const response = events.findLast(({ type }) => type === "response.completed" || type === "response.incomplete")?.response as
    | Event
    | undefined;
  const parts = items.filter(({ type }) => type === "message").flatMap(({ content }) => content as readonly Event[]);
  // Not all of a message need be streamed: the whole stands in its end.
  const whole = parts.map(({ text }) => (text as string | undefined) ?? "").join("");
  return {
    text: whole === "" ? joined("response.output_text.delta") : whole,
    thinking: joined("response.reasoning_summary_text.delta") + joined("response.reasoning_text.delta"),
    calls: items.filter(({ type }) => type === "function_call").map(({ call_id: id }) => id as string),
    outputTokens: (response?.usage as Event | undefined)?.output_tokens as number | undefined,
  };
}

function ofChat(events: readonly Event[]): RecordedContent {
  const deltas = events
    .flatMap(({ choices }) => ((choices as readonly Event[] | undefined) ?? []).slice(0, 1))
    .map(({ delta }) => (delta ?? {}) as Event);
  const joined = (field: string): string => deltas.map((delta) => (delta[field] as string | null | undefined) ?? "").join("");
  const calls = deltas.flatMap(({ tool_calls: pieces }) => (pieces as readonly Event[] | null | undefined) ?? []);
  const usage = events.findLast((event) => Boolean(event.usage))?.usage as Event | undefined;
  return {
    text: joined("content"),
    thinking: joined("reasoning_content") + joined("reasoning"),
    calls: [...new Set(calls.flatMap(({ id }) => (typeof id === "string" && id !== "" ? [id] : [])))],
    outputTokens:
      usage === undefined
        ? undefined
        : Math.max(usage.completion_tokens as number, (usage.total_tokens as number) - (usage.prompt_tokens as number)),
  };
}
