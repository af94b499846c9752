import { datasetDate, datasetText, type DatasetQuestion, type DatasetTurn } from "./dataset-question.ts";

export interface DatasetSession {
  readonly id: string;
  readonly turns: readonly {
    readonly speaker: "person" | "assistant" | "tool" | "harness";
    readonly text: string;
    readonly saidAt: Date | undefined;
  }[];
}

/** More than so many of one session would make the set a test of that session. */
const A_SESSION = 3;
/** Shorter ones ask for nothing that could be found, longer ones are a task. */
const [LEAST_WORDS, MOST_WORDS] = [4, 60];
const LEAST_ANSWER_CHARACTERS = 40;

/**
 * What a person asked in imported sessions, as if it was asked again: what the assistant said then is to be found among all that was said,
 * without the question itself, whose words would give it away.
 * @param haystack how many sessions each is put to; its own is one of them
 */
export function sessionQuestions(sessions: readonly DatasetSession[], limit: number, haystack: number): DatasetQuestion[] {
  const questions: DatasetQuestion[] = [];
  for (const session of sessions) {
    const asked = askedIn(session).slice(0, Math.min(A_SESSION, limit - questions.length));
    const others = sessions.filter(({ id }) => id !== session.id).slice(0, haystack - 1);
    for (const { question, answer } of asked) {
      const own = turnsOf(session, { without: question, answer });
      questions.push({
        question_id: `${session.id}:${question}`,
        question_type: "asked-again",
        question: datasetText(session.turns[question]!.text),
        answer: datasetText(session.turns[answer]!.text),
        question_date: datasetDate(session.turns[question]!.saidAt),
        haystack_session_ids: [session, ...others].map(({ id }) => id),
        haystack_dates: [session, ...others].map(({ turns }) => datasetDate(turns[0]?.saidAt)),
        haystack_sessions: [own, ...others.map((other) => turnsOf(other))],
        answer_session_ids: [session.id],
      });
    }
  }
  return questions;
}

/** Questions, by their place, with the next thing that the assistant said. */
function askedIn({ turns }: DatasetSession): { question: number; answer: number }[] {
  return turns.flatMap(({ speaker, text }, question) => {
    const words = text.split(/\s+/).length;
    if (speaker !== "person" || !text.includes("?") || words < LEAST_WORDS || words > MOST_WORDS) return [];
    const answer = turns.findIndex((turn, at) => at > question && turn.speaker === "assistant");
    const isAnswered = answer > 0 && !turns.slice(question + 1, answer).some((turn) => turn.speaker === "person");
    return isAnswered && turns[answer]!.text.length >= LEAST_ANSWER_CHARACTERS ? [{ question, answer }] : [];
  });
}

/** What people and assistants said: tools print everything and say nothing. */
function turnsOf({ turns }: DatasetSession, { without, answer }: { without?: number; answer?: number } = {}): DatasetTurn[] {
  return turns.flatMap(({ speaker, text }, at) =>
    at === without || (speaker !== "person" && speaker !== "assistant")
      ? []
      : [{ role: speaker === "person" ? "user" : "assistant", content: datasetText(text), has_answer: at === answer }],
  );
}
