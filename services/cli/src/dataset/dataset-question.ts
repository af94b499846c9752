import { replaceSecrets } from "@hlvm/redaction/replace-secrets";
import { secretMark } from "@hlvm/redaction/secret-mark";

/** What is longer than this tells nothing more about what is searched for. */
const CONTENT_CHARACTERS = 4_000;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

export interface DatasetTurn {
  readonly role: string;
  readonly content: string;
  /** Whether it answers the question. */
  readonly has_answer: boolean;
}

/** A question with the sessions that it is put to, in the form in which LongMemEval is published. */
export interface DatasetQuestion {
  readonly question_id: string;
  readonly question_type: string;
  readonly question: string;
  readonly answer: string;
  readonly question_date: string;
  readonly haystack_session_ids: readonly string[];
  readonly haystack_dates: readonly string[];
  readonly haystack_sessions: readonly (readonly DatasetTurn[])[];
  readonly answer_session_ids: readonly string[];
}

/** A text as it may leave the mesh: without what is taken for a secret now, and no longer than it helps. */
export function datasetText(text: string): string {
  return replaceSecrets(text, (kind) => secretMark(kind))
    .slice(0, CONTENT_CHARACTERS)
    .toWellFormed();
}

/** As LongMemEval writes times: `2023/05/20 (Sat) 02:21`, in UTC; empty where none is known. */
export function datasetDate(at: Date | undefined): string {
  if (at === undefined) return "";
  const [day, time] = at.toISOString().split("T") as [string, string];
  return `${day.replaceAll("-", "/")} (${DAYS[at.getUTCDay()]!}) ${time.slice(0, 5)}`;
}
