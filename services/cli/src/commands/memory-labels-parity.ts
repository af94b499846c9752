import { createClient, type Transport } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { SpeakerSchema, TranscriptService, type Transcript } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { AnswerRefused } from "@hlvm/transcripts/labels/answer-fields";
import { AGREEMENT_FIELDS, labelAgreement, type LabelAgreement } from "@hlvm/transcripts/labels/label-agreement";
import { readSessionLabels } from "@hlvm/transcripts/labels/read-session-labels";
import { sessionExcerpt, type SaidTurn } from "@hlvm/transcripts/labels/session-excerpt";
import type { SessionLabels } from "@hlvm/transcripts/labels/session-labels";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

/** Of a session; a window of 8,000 tokens holds it. */
const MOST_CHARACTERS = 16_000;
const MOST_TURNS = 200;

export interface LabelsParityFlags {
  readonly model: readonly string[];
  readonly sessions: number;
  readonly json?: boolean;
}

/** Has two models label the same sessions, keeps nothing of it, and tells how far they agree, field by field. */
export async function memoryLabelsParity(flags: LabelsParityFlags, context: CommandContext): Promise<number> {
  const [one, other, ...more] = flags.model;
  if (one === undefined || other === undefined || more.length > 0)
    throw wrongUsage("Two models are compared.", "hlvm memory labels parity --model A --model B");
  const { pairs, refusals } = await withMesh(context, (transport) => labelTwice(transport, [one, other], flags.sessions, context));
  const agreement = labelAgreement(pairs);
  if (flags.json === true) process.stdout.write(jsonLine({ models: [one, other], ...agreement, refusals }));
  else {
    for (const refusal of refusals) context.screen.note(refusal, "warning");
    if (agreement.sessions > 0) process.stdout.write(agreementText(agreement));
    context.screen.note(`${agreement.sessions} sessions were labelled by both.`);
  }
  return agreement.sessions > 0 ? EXIT_OK : EXIT_FAILED;
}

function agreementText(agreement: LabelAgreement): string {
  return table(
    ["FIELD", "AGREEMENT"],
    AGREEMENT_FIELDS.map((field) => [field, `${(agreement[field] * 100).toFixed(1)} %`]),
  );
}

async function labelTwice(transport: Transport, models: readonly [string, string], sessions: number, { screen }: CommandContext) {
  const { transcripts } = await createClient(TranscriptService, transport).listTranscripts({ limit: sessions });
  const pairs: (readonly [SessionLabels, SessionLabels])[] = [];
  const refusals: string[] = [];
  for (const [at, transcript] of transcripts.entries()) {
    screen.status(`session ${at + 1} of ${transcripts.length}`);
    const turns = await turnsOf(transport, transcript);
    const said = turns.map(({ text }) => text).join("\n");
    const turnsJson = sessionExcerpt(turns, MOST_CHARACTERS);
    if (turnsJson === "") continue;
    const labels: SessionLabels[] = [];
    for (const model of models) {
      const { answerJson } = await createClient(MemoryWorkService, transport).labelSession({ model, turnsJson });
      try {
        labels.push(readSessionLabels(answerJson, said));
      } catch (thrown) {
        if (!(thrown instanceof AnswerRefused)) throw thrown;
        refusals.push(`${model} on ${transcript.tool} ${transcript.session}: ${thrown.message}`);
      }
    }
    const [first, second] = labels;
    if (first !== undefined && second !== undefined) pairs.push([first, second]);
  }
  screen.status("");
  return { pairs, refusals };
}

/** Those that a model would be given, and no more than that: beginning and end of a long session are read. */
async function turnsOf(transport: Transport, { tool, session, turns: count }: Transcript): Promise<SaidTurn[]> {
  const client = createClient(TranscriptService, transport);
  const turns: SaidTurn[] = [];
  const read = async (fromOrdinal: number): Promise<number> => {
    const part = await client.getTranscript({ tool, session, fromOrdinal, limit: MOST_TURNS });
    turns.push(...part.turns.map(({ speaker, text }) => ({ speaker: enumWord(SpeakerSchema, speaker) as SaidTurn["speaker"], text })));
    return part.nextOrdinal;
  };
  const next = await read(0);
  if (next > 0) await read(Math.max(next, count - MOST_TURNS));
  return turns;
}
