import { printTable } from "../../bench/print-table.ts";
import { startDoorMesh, type DoorMesh } from "../door-mesh.ts";
import { checkHook, FACT } from "./check-hook.ts";
import { checkNothingInjected, checkTranscripts, type Exchange } from "./check-transcripts.ts";
import { openClientHome } from "./client-home.ts";
import { CLIENTS } from "./clients.ts";
import { startRecordingProvider, type RecordingProvider } from "./recording-provider.ts";

/** A first question whose answer takes a tool of the client: what it says at its end shows that all went round. And a second one. */
const exchangesOf = (name: string): readonly [Exchange, Exchange] => [
  { question: `Read the note as ${name} would.`, answers: ["I look.", `Read as ${name} would.`] },
  { question: `What did the note tell ${name}?`, answers: [`It told ${name} of violets.`] },
];
const conversations = Object.entries(CLIENTS).flatMap(([name, { tool }]) => {
  const [first, next] = exchangesOf(name);
  return [
    { match: first.question, turns: [{ text: first.answers[0], toolCalls: [tool] }, { text: first.answers[1] }] },
    { match: next.question, turns: [{ text: next.answers[0] }] },
  ];
});

/** A client through the model doors, its transcripts, and its hook where it has one. */
async function check(name: string, mesh: DoorMesh, provider: RecordingProvider) {
  const { secret: token, id } = await mesh.token("--models", "scripted/*,openai-compatible/*");
  using client = openClientHome(name, { url: mesh.url, token, model: "scripted/script" });
  const [first, next] = exchangesOf(name);
  const ended = await client.ask(first.question);
  const calls = Number((await mesh.rows("cost", "--by", "token")).find((row) => row.token === id)?.calls ?? 0);
  if (ended.code !== 0 || !ended.stdout.includes(first.answers.at(-1)!) || calls < 2)
    throw new Error(`${name} ended with ${ended.code} after ${calls} calls:\n${ended.stdout}\n${ended.stderr}`);
  const { source, hooks } = CLIENTS[name]!;
  await checkTranscripts(mesh, client, source, first, next);
  let hook = "";
  if (hooks !== undefined) {
    client.useModel("openai-compatible/recorded");
    hook = `ok, ${(await checkHook(mesh, client, provider, { source, hooks })).length} characters`;
    await checkNothingInjected(mesh, client, source, FACT);
    // Or the next client is pointed to them.
    await mesh.rows("memory", "sessions", "forget", source, "--yes");
  }
  return { outcome: "ok", "calls in the ledger": calls, seconds: ended.milliseconds / 1_000, hook };
}

const wanted = process.argv.slice(2);
const names = Object.keys(CLIENTS).filter((name) => wanted.length === 0 || wanted.includes(name));
await using provider = await startRecordingProvider();
const mesh = await startDoorMesh({ HLVM_OPENAI_COMPATIBLE_URL: provider.url }, conversations);
try {
  const rows = [];
  for (const name of names) {
    const outcome = await check(name, mesh, provider).catch((thrown: unknown) => {
      process.exitCode = 1;
      console.error(`${name}:`, thrown);
      return { outcome: "FAILED", "calls in the ledger": "", seconds: "", hook: "" };
    });
    rows.push({ client: name, package: CLIENTS[name]!.npmPackage, ...outcome });
  }
  printTable("Clients through the model doors", rows);
} finally {
  await mesh.stop();
}
