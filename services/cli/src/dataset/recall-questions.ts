import { datasetDate, datasetText, type DatasetQuestion, type DatasetTurn } from "./dataset-question.ts";

export interface DatasetRecall {
  readonly id: string;
  readonly kind: string;
  readonly query: string;
  readonly at: Date | undefined;
  /** Facts that the answer used, and those that its person marked as wrong there. */
  readonly used: readonly string[];
  readonly wrong: readonly string[];
}

export interface DatasetFact {
  readonly id: string;
  readonly text: string;
  readonly actor: string;
  readonly session: string;
  readonly ordinal: number;
  readonly from: Date | undefined;
}

/** Facts of no session: each stands for itself. */
const NO_SESSION = "fact";

/**
 * What was asked of memory and whose answer used a fact that memory showed: those facts are to be found among all. A fact that its person
 * marked as wrong there is no answer, whatever the run made of it.
 */
export function recallQuestions(recalls: readonly DatasetRecall[], facts: readonly DatasetFact[], limit: number): DatasetQuestion[] {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const sessions = [...Map.groupBy(facts, sessionOf)].map(([id, of]) => ({ id, facts: of.toSorted((a, b) => a.ordinal - b.ordinal) }));
  return recalls
    .flatMap((recall) => {
      const answers = recall.used.filter((id) => !recall.wrong.includes(id)).flatMap((id) => byId.get(id) ?? []);
      return answers.length === 0 ? [] : [questionOf(recall, answers, sessions)];
    })
    .slice(0, limit);
}

function questionOf(
  { id, kind, query, at }: DatasetRecall,
  answers: readonly DatasetFact[],
  sessions: readonly { readonly id: string; readonly facts: readonly DatasetFact[] }[],
): DatasetQuestion {
  const turnOf = (fact: DatasetFact): DatasetTurn => ({
    role: fact.actor || "user",
    content: datasetText(fact.text),
    has_answer: answers.includes(fact),
  });
  return {
    question_id: `recall-${id}`,
    question_type: `recall-${kind}`,
    question: datasetText(query),
    answer: answers.map(({ text }) => datasetText(text)).join("\n"),
    question_date: datasetDate(at),
    haystack_session_ids: sessions.map((session) => session.id),
    haystack_dates: sessions.map(({ facts: [first] }) => datasetDate(first?.from)),
    haystack_sessions: sessions.map((session) => session.facts.map(turnOf)),
    answer_session_ids: [...new Set(answers.map(sessionOf))],
  };
}

function sessionOf({ id, session }: DatasetFact): string {
  return session || `${NO_SESSION}-${id}`;
}
