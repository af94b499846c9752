import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactScope, MemoryService, type Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService, RecallKindSchema } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { SpeakerSchema, TranscriptService, type Transcript, type Turn } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { recallQuestions, type DatasetFact, type DatasetRecall } from "../dataset/recall-questions.ts";
import { sessionQuestions, type DatasetSession } from "../dataset/session-questions.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";

const RECALLS = 500;
const FACTS_A_PAGE = 100;
/** The latest: what a person has beyond that makes the set larger, and not harder. */
const FACTS = 5_000;
const TURNS_A_PAGE = 200;
const TURNS = 2_000;

export interface MemoryDatasetFlags {
  /** Questions of each kind at most. */
  readonly limit: number;
  /** Sessions that each question is put to. */
  readonly sessions: number;
  readonly json?: boolean;
}

/**
 * A set of questions with their answers from one's own sessions and recalls, in LongMemEval's form, to measure memory by; the same as
 * long as nothing was added to either.
 */
export async function memoryDataset({ limit, sessions, json }: MemoryDatasetFlags, context: CommandContext): Promise<number> {
  const questions = await withMesh(context, async (transport) => {
    const recalls = await readRecalls(transport);
    const facts = await readFacts(transport, [...new Set(recalls.map(({ project }) => project))]);
    return [...recallQuestions(recalls, facts, limit), ...sessionQuestions(await readSessions(transport, sessions), limit, sessions)];
  });
  if (json === true) for (const question of questions) process.stdout.write(jsonLine(question));
  else process.stdout.write(`${JSON.stringify(questions, undefined, 1)}\n`);
  context.screen.note(
    `${questions.length} questions. They are yours: the file has what you said and were told, without the secrets that are known for some.`,
  );
  return EXIT_OK;
}

async function readRecalls(transport: Transport): Promise<(DatasetRecall & { readonly project: string })[]> {
  const { recalls } = await createClient(MemoryStatsService, transport).listRecalls({ limit: RECALLS });
  return recalls.map(({ recallId, kind, query, at, usedFactIds, wrongFactIds, project }) => ({
    id: String(recallId),
    kind: enumWord(RecallKindSchema, kind),
    query,
    at: at && timestampDate(at),
    used: usedFactIds,
    wrong: wrongFactIds,
    project,
  }));
}

/** One's own facts, the team's and those of the projects that were asked in. */
async function readFacts(transport: Transport, projects: readonly string[]): Promise<DatasetFact[]> {
  const client = createClient(MemoryService, transport);
  const facts: Fact[] = [];
  const read = async (filter: { project: string; scope: FactScope }): Promise<void> => {
    for (let pageToken = ""; facts.length < FACTS;) {
      const page = await client.listFacts({ filter, limit: FACTS_A_PAGE, pageToken });
      facts.push(...page.facts);
      if ((pageToken = page.nextPageToken) === "") return;
    }
  };
  await read({ project: "", scope: FactScope.PERSONAL });
  await read({ project: "", scope: FactScope.TEAM });
  for (const project of projects.filter((name) => name !== "").sort())
    await read({ project, scope: FactScope.PROJECT }).catch((cause: unknown) => {
      // They are no member of it any more.
      if (!(cause instanceof ConnectError) || cause.code !== Code.NotFound) throw cause;
    });
  return facts.map(({ factId, text, actor, sourceSessionId, sourceOrdinal = 0, validFrom }) => ({
    id: factId,
    text,
    actor,
    session: sourceSessionId,
    ordinal: sourceOrdinal,
    from: validFrom && timestampDate(validFrom),
  }));
}

async function readSessions(transport: Transport, limit: number): Promise<DatasetSession[]> {
  const client = createClient(TranscriptService, transport);
  const { transcripts } = await client.listTranscripts({ limit });
  const sessions: DatasetSession[] = [];
  for (const { tool, session } of transcripts.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const turns: Turn[] = [];
    for (let fromOrdinal = 0; turns.length < TURNS;) {
      const page = await client.getTranscript({ tool, session, fromOrdinal, limit: TURNS_A_PAGE });
      turns.push(...page.turns);
      if ((fromOrdinal = page.nextOrdinal) === 0) break;
    }
    sessions.push({
      id: nameOf({ tool, session }),
      turns: turns.map(({ speaker, text, saidAt }) => ({
        speaker: enumWord(SpeakerSchema, speaker) as DatasetSession["turns"][number]["speaker"],
        text,
        saidAt: saidAt && timestampDate(saidAt),
      })),
    });
  }
  return sessions;
}

function nameOf({ tool, session }: Pick<Transcript, "tool" | "session">): string {
  return `${tool}/${session}`;
}
