import { enumWord } from "@hlvm/ndjson/enum-word";
import { Decision, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  TurnReplayed_Agreement as Agreement,
  type CallReplayed,
  type ToolEnd,
  type TurnReplayed,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { table } from "../output/table.ts";
import { wilsonInterval } from "./statistics.ts";

/** Of calls that are decided otherwise now. */
const SHOWN_CALLS = 50;
const STRICTNESS: Partial<Record<Decision, number>> = { [Decision.ALLOW]: 0, [Decision.ASK]: 1, [Decision.DENY]: 2 };

/** What a replay came to, for people and for programs. */
export interface ReplayReport {
  /** Ends with a line feed where there is any. */
  readonly text: string;
  readonly figures: object;
}

/** How policy decides now what it decided then. */
export function decisionsReport(calls: readonly CallReplayed[]): ReplayReport {
  const now = ({ now: ruled }: CallReplayed): Decision => ruled?.decision ?? Decision.UNSPECIFIED;
  const then = ({ recorded }: CallReplayed): Decision => recorded?.decision ?? Decision.UNSPECIFIED;
  const changed = calls.filter((call) => now(call) !== then(call));
  const become = (decision: Decision): number => changed.filter((call) => now(call) === decision).length;
  const figures = {
    calls: calls.length,
    same: calls.length - changed.length,
    newly_allowed: become(Decision.ALLOW),
    newly_asked: become(Decision.ASK),
    newly_denied: become(Decision.DENY),
    looser: changed.filter((call) => (STRICTNESS[now(call)] ?? 2) < (STRICTNESS[then(call)] ?? 2)).length,
    redacted: calls.filter(({ redacted }) => redacted).length,
  };
  const rows = changed.slice(0, SHOWN_CALLS).map((call) => {
    const words = [then(call), now(call)].map((decision) => enumWord(DecisionSchema, decision));
    return [String(call.sequence), call.tool, call.argumentsSummary, ...words, call.now?.rule ?? ""];
  });
  const lines = rows.length === 0 ? "" : table(["EVENT", "TOOL", "ARGUMENTS", "THEN", "NOW", "RULE"], rows);
  const more = changed.length > SHOWN_CALLS ? `${changed.length - SHOWN_CALLS} more are left out here; --json has all.\n` : "";
  const { same, newly_allowed: allowed, newly_asked: asked, newly_denied: denied, redacted } = figures;
  const secrets = redacted === 0 ? "" : ` ${redacted} had secrets in them, of which only the marks were judged.`;
  const summary = `${calls.length} ${calls.length === 1 ? "call" : "calls"}: ${same} decided as then, ${allowed} newly allowed, ${asked} newly asked, ${denied} newly denied.${secrets}\n`;
  const limits =
    "It tells what the rules say of these calls. It cannot tell what people would answer, nor what the model would do after a no.\n";
  return { text: lines + more + summary + limits, figures };
}

/** Where another model would do what the recorded one did. */
export function turnsReport(turns: readonly TurnReplayed[]): ReplayReport {
  const asked = turns.filter(({ failure }) => failure === "");
  const count = (agreement: Agreement): number => asked.filter((one) => one.agreement === agreement).length;
  const same = count(Agreement.SAME);
  const interval = wilsonInterval(same, asked.length);
  const parts = turns.findIndex(({ failure, agreement }) => failure === "" && agreement !== Agreement.SAME) + 1;
  const figures = {
    turns: turns.length,
    same,
    same_tools: count(Agreement.SAME_TOOLS),
    different: count(Agreement.DIFFERENT),
    failed: turns.length - asked.length,
    agreement: asked.length === 0 ? 0 : same / asked.length,
    ...interval,
    first_parts_at: parts || undefined,
  };
  const rows = turns.map((turn, index) => [
    String(index + 1),
    wordOf(turn),
    callsOf(turn.recorded),
    turn.failure || callsOf(turn.proposed),
  ]);
  const lines = rows.length === 0 ? "" : table(["TURN", "AGREES", "RECORDED", "PROPOSED"], rows);
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const rate = asked.length === 0 ? "" : ` (${percent(figures.agreement)}, ${percent(interval.low)} to ${percent(interval.high)})`;
  const first = parts === 0 ? "" : ` They first part at turn ${parts}.`;
  const failed = figures.failed === 0 ? "" : ` In ${figures.failed} the model could not be asked.`;
  const summary = `The same calls in ${same} of ${asked.length} turns${rate}, the same tools in ${figures.same_tools} more.${first}${failed}\n`;
  const limits =
    "Each turn begins with what was recorded. It cannot tell where the model would have come to by itself, nor whether another way is as good.\n";
  return { text: lines + summary + limits, figures };
}

/** How much of a run that went on from a recording was read from it. */
export function forkReport(ends: readonly ToolEnd[]): ReplayReport {
  const served = ends.filter(({ servedFromSequence }) => servedFromSequence > 0n).length;
  const figures = { results: ends.length, as_recorded: served };
  const summary = `${served} of ${ends.length} results are as recorded; the rest ran in the copy.\n`;
  const limits =
    "It cannot tell what has changed outside of the files since: in memory, in services, in the model itself. One way is not all ways.\n";
  return { text: summary + limits, figures };
}

function wordOf({ agreement, failure }: TurnReplayed): string {
  if (failure !== "") return "not asked";
  if (agreement === Agreement.SAME) return "yes";
  return agreement === Agreement.SAME_TOOLS ? "tools" : "no";
}

function callsOf(calls: TurnReplayed["recorded"]): string {
  return calls.length === 0
    ? "answers"
    : calls
        .map(({ tool, argumentsJson }) => `${tool} ${argumentsJson}`)
        .join("; ")
        .slice(0, 60);
}
