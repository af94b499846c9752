interface SaidTurn {
  readonly ordinal: number;
  readonly speaker: string;
  readonly saidAt: Date | undefined;
  readonly text: string;
}
interface NamedSession {
  readonly tool: string;
  readonly session: string;
  readonly title: string;
  readonly folder: string;
  readonly turns: number;
}

/** Of one turn where several are told; the rest is read by another call. */
const MAXIMUM_TURN = 4_000;

/** What was found among earlier sessions, for a model to read. */
export function foundSessionsText(found: readonly { readonly transcript: NamedSession; readonly turn: SaidTurn }[]): string {
  if (found.length === 0) return "No earlier session holds these words. Try other words for the same.";
  return found.map(({ transcript, turn }) => `${headOf(transcript)}\n${turnText(turn)}`).join("\n\n");
}

/** @param nextOrdinal 0: there is no more */
export function sessionText(transcript: NamedSession, turns: readonly SaidTurn[], nextOrdinal: number): string {
  const more = nextOrdinal === 0 ? "" : `\n\nget_session with from ${nextOrdinal} goes on.`;
  return `${headOf(transcript)}\n${turns.map(turnText).join("\n\n")}${more}`;
}

/** @param link where a person can read it */
export function citationText(transcript: NamedSession, turn: SaidTurn | undefined, link: string): string {
  return `Cite it as: [${transcript.tool}, ${turn?.saidAt?.toISOString().slice(0, 10) ?? "no date"}](${link})`;
}

function headOf({ tool, session, title, folder, turns }: NamedSession): string {
  return `## ${oneLine(title)}\n(tool ${tool}, session ${session}, ${turns} turns${folder === "" ? "" : `, in ${oneLine(folder)}`})`;
}

function turnText({ ordinal, speaker, saidAt, text }: SaidTurn): string {
  const short = text.length > MAXIMUM_TURN ? `${text.slice(0, MAXIMUM_TURN).toWellFormed()}… (${text.length} characters)` : text;
  return `[turn ${ordinal}, ${speaker}${saidAt === undefined ? "" : `, ${saidAt.toISOString().slice(0, 16)}`}] ${short}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
