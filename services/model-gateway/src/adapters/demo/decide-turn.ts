import { lookUp } from "./look-up.ts";
import { makeCall } from "./make-call.ts";
import { giveOverview } from "./give-overview.ts";
import { readIntent } from "./read-intent.ts";
import type { DemoTurn, Situation } from "./situation.ts";
import { wordsOf } from "./words-of.ts";

/** The next turn: fixed by the question and by what the tools have returned so far. */
export function decideTurn(situation: Situation): DemoTurn {
  const intent = readIntent(situation.question);
  const turn = decide(situation, intent);
  const calls = turn.calls.filter((call) => situation.offered.has(call.tool));
  if (calls.length > 0 || turn.calls.length === 0) return { text: answered(situation, turn.text, calls.length), calls };
  const missing = [...new Set(turn.calls.map((call) => call.tool))].join(", ");
  return { text: answered(situation, `This needs ${missing}, which this session does not offer.`, 0), calls: [] };
}

function decide(situation: Situation, intent: ReturnType<typeof readIntent>): DemoTurn {
  switch (intent.kind) {
    case "call":
      return makeCall(situation, intent);
    case "overview":
      return giveOverview(situation, intent.words);
    case "look-up":
      return lookUp(situation, intent);
  }
}

/** An answer begins with what is remembered of the matter. */
function answered(situation: Situation, text: string, calls: number): string {
  if (calls > 0) return text;
  const words = wordsOf(situation.question).map((word) => word.toLowerCase());
  const facts = situation.memory.filter((fact) => words.some((word) => fact.toLowerCase().includes(word)));
  return facts.length === 0 ? text : `From memory:\n${facts.map((fact) => `  ${fact}`).join("\n")}\n\n${text}`;
}
