import type { CanonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ToolCall } from "./execute-tool.ts";
import type { Fact, FactScope, FactType } from "./fact.ts";
import type { ScopedFacts } from "./fact-store.ts";
import { removeFact } from "./remove-fact.ts";
import { replaceFact } from "./replace-fact.ts";
import { searchFacts, type SearchPorts } from "./search-facts.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { recordRecall } from "./usage/record-recall.ts";
import type { UsageLog } from "./usage/usage-log.ts";
import type { Viewer } from "./viewer.ts";
import { writeFact } from "./write-fact.ts";

/** The tools' arguments, as their schemas in `@hlvm/tools` have them. */
interface WriteArguments {
  readonly text: string;
  readonly category?: string;
  readonly type?: FactType;
  readonly scope?: FactScope;
  readonly subject?: string;
  readonly predicate?: string;
  readonly tags?: readonly string[];
}
interface SearchArguments {
  readonly query: string;
  readonly limit?: number;
}
interface EditArguments {
  readonly fact_id: string;
  readonly action: "replace" | "remove";
  readonly text?: string;
}

export type MemoryToolPorts = SearchPorts & { readonly usage: UsageLog };

const DEFAULT_LIMIT = 10;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Runs one memory tool with arguments that fit its schema; a writing call that was made before does nothing again. */
export async function memoryTool(
  tool: string,
  ports: MemoryToolPorts,
  viewer: Viewer,
  given: CanonicalArguments,
  call: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (tool === "memory_search") return search(ports, viewer, given.value as unknown as SearchArguments, call, signal);
  const reference = { sessionId: call.sessionId, callId: call.callId, argumentsHash: given.hash };
  const { sessionId, runId, callId } = call;
  return ports.store.inScope({ ...viewer, call: { sessionId, runId, callId } }, async (facts) => {
    const before = await facts.claimCall(reference);
    if (before !== undefined) return before;
    const outcome =
      tool === "memory_write"
        ? await write(facts, viewer, given.value as unknown as WriteArguments, call)
        : await edit(facts, viewer, given.value as unknown as EditArguments, call);
    await facts.keepOutcome(reference, outcome);
    return outcome;
  });
}

async function write(facts: ScopedFacts, viewer: Viewer, given: WriteArguments, call: ToolCall): Promise<ToolOutcome> {
  const { fact, isNew, superseded } = await writeFact(facts, viewer, {
    text: given.text,
    category: given.category ?? "",
    type: given.type,
    scope: given.scope,
    origin: "model-inferred",
    subject: given.subject ?? "",
    predicate: given.predicate ?? "",
    tags: given.tags ?? [],
    pinned: false,
    sourceSessionId: call.sessionId,
  });
  if (fact.proposal !== undefined) return proposed(fact);
  if (!isNew) return succeeded(`Known already as fact ${fact.id}: ${fact.text}`, "known already");
  const replaced = superseded.map((old) => `\nIt replaces fact ${old.id}: ${old.text}`).join("");
  return succeeded(`Remembered as fact ${fact.id} (${fact.scope}): ${fact.text}${replaced}`, `remembered: ${fact.text}`);
}

async function search(
  ports: MemoryToolPorts,
  viewer: Viewer,
  { query, limit = DEFAULT_LIMIT }: SearchArguments,
  { sessionId, runId }: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const begun = performance.now();
  const found = await searchFacts(ports, viewer, { query, limit }, signal);
  const facts = found.facts.map(({ fact }) => fact);
  await recordRecall(ports.usage, viewer, { kind: "tool", query, sessionId, runId, begun }, facts);
  const lines = facts.length === 0 ? ["Nothing that was remembered holds these words. Try other words for the same."] : facts.map(lineOf);
  if (found.notice !== "") lines.push(`Note: ${found.notice}`);
  return succeeded(lines.join("\n"), `${facts.length} ${facts.length === 1 ? "fact" : "facts"} found`);
}

function lineOf(fact: Fact): string {
  const about = [fact.scope, fact.category, fact.origin, fact.validFrom.toISOString().slice(0, 10)].filter((word) => word !== "");
  return `- ${fact.text} [fact ${fact.id}; ${about.join(", ")}]`;
}

async function edit(facts: ScopedFacts, viewer: Viewer, given: EditArguments, call: ToolCall): Promise<ToolOutcome> {
  if (!UUID.test(given.fact_id)) throw wrongArguments(`"${given.fact_id}" is not a fact's id`, "Take the id that memory_search gave.");
  const editor = { origin: "model-inferred", sourceSessionId: call.sessionId } as const;
  if (given.action === "remove") {
    const fact = await removeFact(facts, viewer, given.fact_id, editor);
    if (fact.proposal !== undefined) return proposed(fact);
    return succeeded(`Removed fact ${fact.id}: ${fact.text}`, `removed: ${fact.text}`);
  }
  if (given.text === undefined) throw wrongArguments('argument "text" is missing', "Give the corrected fact, or use action remove.");
  const { fact } = await replaceFact(facts, viewer, given.fact_id, given.text, editor);
  if (fact.proposal !== undefined) return proposed(fact);
  return succeeded(`Fact ${given.fact_id} is now fact ${fact.id}: ${fact.text}`, `corrected: ${fact.text}`);
}

function proposed(fact: Fact): ToolOutcome {
  const what = fact.proposesEnd
    ? `to end fact ${fact.proposalOf}`
    : fact.proposalOf === ""
      ? "as new"
      : `in place of fact ${fact.proposalOf}`;
  const content = `Not done yet. It is in the inbox as proposal ${fact.id} (${what}) and holds once a person accepts it: ${fact.text}`;
  return succeeded(content, `proposed: ${fact.text}`);
}

function succeeded(content: string, summary: string): ToolOutcome {
  return { success: true, content, summary, errorCode: "" };
}

function wrongArguments(what: string, advice: string): HlvmError {
  return new HlvmError({ code: "invalid_argument", reason: "invalid_arguments", message: `memory_edit: ${what}.`, advice });
}
