import assert from "node:assert/strict";
import type { DoorMesh } from "../door-mesh.ts";
import { NOTE, type ClientHome } from "./client-home.ts";

/** What a harness writes beside what people say. */
const HARNESS = /system-reminder|environment_context|AGENTS\.md|<hlvm-memory|skills_instructions/;

/** A question that was asked and answered. */
export interface Exchange {
  readonly question: string;
  readonly answers: readonly string[];
}

/**
 * What a client wrote into its home is imported as it was said, once, and found.
 * @param source as HLVM calls the client
 * @param first what was said in it until now
 * @throws AssertionError
 */
export async function checkTranscripts(mesh: DoorMesh, client: ClientHome, source: string, first: Exchange, next: Exchange): Promise<void> {
  const hlvm = memoryOf(mesh, client);
  const scan = async (): Promise<Record<string, unknown>> => (await hlvm("source", "scan", source))[0]!;

  await hlvm("source", "add", source);
  const { failed, notUnderstood, dropped, sessions, added } = await scan();
  assert.deepEqual({ failed, notUnderstood, dropped, sessions }, { failed: 0, notUnderstood: 0, dropped: 0, sessions: 1 });
  const [session] = await hlvm("sessions", "list", "--tool", source);
  assert.equal(session!.turns, added);
  const name = session!.session as string;
  checkTurns(await hlvm("sessions", "show", source, name), [first]);

  assert.deepEqual(pick(await scan()), { unchangedFiles: 1, added: 0, changed: 0, failed: 0 });
  assert.equal((await client.goOn(next.question)).code, 0);
  const later = await scan();
  assert.deepEqual(pick(later), { unchangedFiles: 0, added: 1 + next.answers.length, changed: 0, failed: 0 });
  assert.equal(later.notUnderstood, 0);
  const turns = await hlvm("sessions", "show", source, name);
  checkTurns(turns, [first, next]);
  assert.equal(turns.length, Number(added) + 1 + next.answers.length);

  for (const words of [first.question, next.answers[0]!]) {
    const [found] = (await hlvm("sessions", "search", words)) as { transcript: Record<string, unknown> }[];
    assert.deepEqual([found?.transcript.tool, found?.transcript.session], [source, name]);
  }
}

/** None of what memory put before its model comes back, whatever came of the prompt. @throws AssertionError */
export async function checkNothingInjected(mesh: DoorMesh, client: ClientHome, source: string, injected: string): Promise<void> {
  const hlvm = memoryOf(mesh, client);
  const [{ failed, notUnderstood, added }] = (await hlvm("source", "scan", source)) as [Record<string, number>];
  assert.deepEqual({ failed, notUnderstood }, { failed: 0, notUnderstood: 0 });
  assert.ok(added! > 0);
  for (const { session } of await hlvm("sessions", "list", "--tool", source)) {
    const said = JSON.stringify(await hlvm("sessions", "show", source, session as string));
    assert.doesNotMatch(said, HARNESS);
    assert.ok(!said.includes(injected), said);
  }
}

function memoryOf(mesh: DoorMesh, { home }: ClientHome) {
  return async (...words: string[]): Promise<Record<string, unknown>[]> => {
    const { code, stdout, stderr } = await mesh.hlvm(["memory", ...words, "--json"], { environment: { HOME: home } });
    assert.equal(code, 0, `hlvm memory ${words.join(" ")}: ${stderr}`);
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  };
}

function pick({ unchangedFiles, added, changed, failed }: Record<string, unknown>): Record<string, unknown> {
  return { unchangedFiles, added, changed, failed };
}

/** People and models said what they said, and nothing else; what the tool gave is told as a tool's. */
function checkTurns(turns: readonly Record<string, unknown>[], said: readonly Exchange[]): void {
  const by = (speaker: string): string[] => turns.filter((turn) => turn.speaker === speaker).map((turn) => turn.text as string);
  // opencode puts quotation marks around a question of several words.
  assert.deepEqual(
    by("person").map((text) => text.replace(/^"(.*)"$/s, "$1")),
    said.map(({ question }) => question),
  );
  const answers = said.flatMap((exchange) => exchange.answers);
  assert.equal(by("assistant").length, answers.length);
  for (const [at, text] of by("assistant").entries()) assert.ok(text.startsWith(answers[at]!), text);
  assert.match(by("tool").join("\n"), new RegExp(`cat note\\.txt[^]*(?:${NOTE}|codex-linux-sandbox)`));
  assert.deepEqual(by("harness"), []);
  for (const { text } of turns) assert.doesNotMatch(text as string, HARNESS);
}
