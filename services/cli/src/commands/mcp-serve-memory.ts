import { once } from "node:events";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { SpeakerSchema, TranscriptService, type Transcript, type Turn } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { citationText, foundSessionsText, sessionText } from "@hlvm/transcripts/sessions-text";
import type { CommandContext } from "../command.ts";
import { connectMesh, type MeshConnection } from "../mesh/connect-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

/** Arguments that fit the tools' schemas. */
interface Given {
  readonly query: string;
  readonly tool: string;
  readonly session: string;
  readonly from?: number;
  readonly limit?: number;
  readonly turn: number;
}
type Tool = (transport: Transport, given: Given) => Promise<string>;

const TOOLS: Readonly<Record<string, Tool>> = { memory_search: searchFacts, recall_sessions: recall, get_session: get, cite_session: cite };
const MAXIMUM_CALLS = 4;
const DEADLINE_MILLISECONDS = 30_000;

/**
 * Serves memory to other agents over the Model Context Protocol, by standard input and output, until its input ends. The mesh is looked
 * for when a tool is called first, and again after a call that failed, so that an agent's start never waits for it.
 */
export async function mcpServeMemory(context: CommandContext): Promise<number> {
  let mesh: Promise<MeshConnection> | undefined;
  let calls = 0;
  const letGo = async (): Promise<void> => {
    const held = mesh;
    mesh = undefined;
    await held?.then(({ release }) => release()).catch(() => undefined);
  };
  const call = async (tool: Tool, given: Given): Promise<string> => {
    if (calls >= MAXIMUM_CALLS) throw new Error(`${MAXIMUM_CALLS} calls are under way already. Try again when one has ended.`);
    calls++;
    try {
      mesh ??= connectMesh(context);
      return await tool((await mesh).transport, given);
    } catch (thrown) {
      const error = fromConnectError(thrown);
      if (error.code === "unavailable") await letGo();
      throw new Error(`${error.message} ${error.advice}`, { cause: thrown });
    } finally {
      calls--;
    }
  };
  return untilInterrupted(async (signal) => {
    const ended = once(process.stdin, "close", { signal });
    const server = serveStdio(() => newServer(call));
    try {
      await ended;
    } finally {
      await server.close();
      await letGo();
    }
  });
}

function newServer(call: (tool: Tool, given: Given) => Promise<string>): McpServer {
  const server = new McpServer({ name: "hlvm-memory", version: "0.1.0" });
  for (const [name, tool] of Object.entries(TOOLS)) {
    const { description, inputSchema, sideEffects } = findNativeTool(name)!;
    const schema = fromJsonSchema<Given>(JSON.parse(JSON.stringify(inputSchema)));
    server.registerTool(
      name,
      { description, inputSchema: schema, annotations: { readOnlyHint: sideEffects === "read-only" } },
      async (given) => {
        try {
          return { content: [{ type: "text", text: await call(tool, given) }] };
        } catch (thrown) {
          return { content: [{ type: "text", text: (thrown as Error).message }], isError: true };
        }
      },
    );
  }
  return server;
}

const options = { timeoutMs: DEADLINE_MILLISECONDS };

async function searchFacts(transport: Transport, { query, limit = 10 }: Given): Promise<string> {
  const { facts } = await createClient(MemoryService, transport).searchFacts({ query, limit, project: readWorkspace(".") }, options);
  if (facts.length === 0) return "Nothing that was remembered holds these words. Try other words for the same.";
  return facts.map(({ fact }) => `- ${fact!.text} [fact ${fact!.factId}]`).join("\n");
}

async function recall(transport: Transport, { query, limit = 5 }: Given): Promise<string> {
  const { found } = await createClient(TranscriptService, transport).searchTranscripts({ query, limit }, options);
  return foundSessionsText(found.map(({ transcript, turn }) => ({ transcript: transcript!, turn: said(turn!) })));
}

async function get(transport: Transport, { tool, session, from = 0, limit = 10 }: Given): Promise<string> {
  const client = createClient(TranscriptService, transport);
  const { transcript, turns, nextOrdinal } = await client.getTranscript({ tool, session, fromOrdinal: from, limit }, options);
  return sessionText(transcript as Transcript, turns.map(said), nextOrdinal);
}

async function cite(transport: Transport, { tool, session, turn }: Given): Promise<string> {
  const cited = await createClient(TranscriptService, transport).citeTranscript({ tool, session, ordinal: turn }, options);
  return citationText(cited.transcript as Transcript, cited.turn && said(cited.turn), cited.link);
}

function said({ ordinal, speaker, saidAt, text }: Turn) {
  return { ordinal, speaker: enumWord(SpeakerSchema, speaker), saidAt: saidAt && timestampDate(saidAt), text };
}
