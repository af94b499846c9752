import { searchFacts, type SearchPorts } from "../search-facts.ts";
import type { Viewer } from "../viewer.ts";
import { answerText, citesFact, restatesFact } from "./holds-fact.ts";
import type { AnsweredRun, UsageLog } from "./usage-log.ts";

/** Of an answer, what is searched for facts that nobody had shown. */
const SEARCHED_CHARACTERS = 2_000;
const MAXIMUM_SEARCHED = 20;
/** What nobody showed has to be said more plainly to count as found out again. */
const REDERIVED_SHARE = 0.8;

export interface GivenAnswer {
  readonly sessionId: string;
  readonly runId: string;
  readonly question: string;
  readonly answer: string;
}

/** Finds out what an answer has of the facts that its session was shown, and which facts it came to without them, and records that. */
export async function recordAnswer(
  ports: SearchPorts & { readonly usage: UsageLog },
  viewer: Viewer,
  { sessionId, runId, question, answer }: GivenAnswer,
  signal: AbortSignal,
): Promise<AnsweredRun> {
  const shownTo = await ports.usage.shownTo(viewer, sessionId);
  const shown = new Set(shownTo?.factIds);
  const said = answerText(answer, question);
  const loaded = await ports.store.inScope(viewer, (facts) => facts.load([...shown]));
  const used = loaded.filter(({ id, text }) => citesFact(said, id) || restatesFact(said, text)).map(({ id }) => id);
  const search = await searchFacts(ports, viewer, { query: answer.slice(0, SEARCHED_CHARACTERS), limit: MAXIMUM_SEARCHED }, signal);
  const rederived = search.facts
    .map(({ fact }) => fact)
    .filter(({ id, sourceSessionId }) => !shown.has(id) && sourceSessionId !== sessionId)
    .filter(({ validFrom }) => shownTo === undefined || validFrom < shownTo.since)
    .filter(({ text }) => restatesFact(said, text, REDERIVED_SHARE))
    .map(({ id }) => id);
  return ports.usage.recordAnswer(viewer, { runId, shown: [...shown], used, rederived });
}
