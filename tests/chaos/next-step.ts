/** A message of a conversation as chat completions have it. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

/** What the model does next: a command, or the end. */
export type Step = { readonly command: string; readonly words: string } | { readonly done: string };

export const LINES_FILE = "lines.txt";
/** Around the append: a call that is interrupted may or may not have taken effect. */
const PAUSE = "sleep 0.15";

export function promptOf(run: number, turns: number): string {
  return `Write the lines of chaos run ${run}, ${turns} of them.`;
}

export function lineOf(run: number, line: number): string {
  return `run ${run} line ${line}`;
}

/**
 * What a careful agent does next, by the conversation alone, so that asking twice for the same turn gives the same answer:
 * append one line a turn; where it is not known whether an append took effect, look, and append again only where the line
 * is not there.
 */
export function nextStep(messages: readonly ChatMessage[]): Step {
  const asked = messages.findLast(({ role, content }) => role === "user" && PROMPT.test(textOf(content)));
  const [, run, turns] = PROMPT.exec(textOf(asked?.content))?.map(Number) ?? [];
  if (run === undefined || turns === undefined) return { done: "Nobody asked for lines." };
  let line = 1;
  let isSure = true;
  let calls = 0;
  for (const [command, result] of callsOf(messages)) {
    calls++;
    const [, seen] = COUNTED.exec(result) ?? [];
    const isAppend = command.includes(">>");
    if (seen === "1") {
      line++;
      isSure = true;
    } else if (seen !== undefined && Number(seen) > 1) {
      return { done: `Line ${line} is there ${seen} times.` };
    } else isSure = !isAppend && seen === "0";
  }
  if (line > turns) return { done: `All ${turns} lines are written.` };
  const text = lineOf(run, line);
  // The file is not there before the first append.
  const count = `touch ${LINES_FILE}; echo "counted=$(grep -c '^${text}$' ${LINES_FILE})"`;
  // The number keeps the same look twice from being the very same call.
  if (!isSure) return { command: `${count} # call ${calls + 1}`, words: `I look for line ${line}.` };
  return { command: `${PAUSE}; echo '${text}' >> ${LINES_FILE}; ${PAUSE}; ${count} # call ${calls + 1}`, words: `I write line ${line}.` };
}

const PROMPT = /lines of chaos run (\d+), (\d+) of them/;
/** In output alone: in a command the number is not there yet. */
const COUNTED = /counted=(\d+)/;

function callsOf(messages: readonly ChatMessage[]): [command: string, result: string][] {
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, textOf(message.content)]] : [])),
  );
  return messages.flatMap(({ tool_calls: calls = [] }) =>
    calls.map((call): [string, string] => [call.function.arguments, results.get(call.id) ?? ""]),
  );
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}
