import { existsSync, readFileSync } from "node:fs";
import { dateOrNothing } from "./date-or-nothing.ts";
import type { MemorySet } from "./memory-sets.ts";

/** As LongMemEval is published, and as `hlvm memory dataset` writes it. */
interface LongMemEvalQuestion {
  readonly question_id: string;
  readonly question_type: string;
  readonly question: string;
  readonly haystack_session_ids: readonly string[];
  readonly haystack_dates?: readonly string[];
  readonly haystack_sessions: readonly (readonly { readonly role: string; readonly content: string; readonly has_answer?: boolean }[])[];
  readonly answer_session_ids: readonly string[];
}

/** What a fact may have. */
const MAXIMUM_BYTES = 16_384;
/** Of a question that nothing in its sessions answers. */
const UNANSWERED = /_abs(?:_\d+)?$/;

/** Each question has a memory of its own. Those that nothing answers, whose ids end in `_abs`, count for nothing. */
export function readLongMemEval(file: string | undefined): MemorySet[] | undefined {
  if (file === undefined || !existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as LongMemEvalQuestion[]).map((asked) => {
    const turns = asked.haystack_sessions.flatMap((session, at) =>
      session.map(({ role, content, has_answer: isAnswer = false }, ordinal) => ({
        id: `${asked.haystack_session_ids[at]!}:${ordinal}`,
        session: asked.haystack_session_ids[at]!,
        ordinal,
        actor: role,
        saidAt: longMemEvalDate(asked.haystack_dates?.[at]),
        text: withinBytes(content) || "(nothing)",
        isAnswer,
      })),
    );
    const isAnswered = !UNANSWERED.test(asked.question_id);
    const answers = isAnswered ? turns.filter(({ isAnswer }) => isAnswer).map(({ id }) => id) : [];
    const sessions = isAnswered ? asked.answer_session_ids : [];
    return { turns, questions: [{ text: asked.question, categories: [asked.question_type, "all"], turns: answers, sessions }] };
  });
}

function withinBytes(text: string): string {
  const bytes = Buffer.from(text.toWellFormed());
  // A character that is cut through becomes U+FFFD, which is three bytes long.
  return bytes.length <= MAXIMUM_BYTES ? bytes.toString() : bytes.subarray(0, MAXIMUM_BYTES - 3).toString();
}

/** "2023/05/20 (Sat) 02:21". */
function longMemEvalDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : dateOrNothing(`${text.replaceAll("/", "-").replace(/ \(\w+\) /, "T")}Z`);
}
