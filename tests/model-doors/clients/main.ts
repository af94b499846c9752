import { printTable } from "../../bench/print-table.ts";
import { startDoorMesh } from "../door-mesh.ts";
import { CLIENTS } from "./clients.ts";
import { runClient } from "./run-client.ts";

/** One question each, whose answer takes a tool of the client: what it has to say at its end shows that all went round. */
const conversations = Object.entries(CLIENTS).map(([name, { tool }]) => ({
  match: `as ${name} would`,
  turns: [{ text: "I look.", toolCalls: [tool] }, { text: `Read as ${name} would.` }],
}));
const wanted = process.argv.slice(2);
const names = Object.keys(CLIENTS).filter((name) => wanted.length === 0 || wanted.includes(name));
const mesh = await startDoorMesh({}, conversations);
let failed = 0;
try {
  const rows = [];
  for (const name of names) {
    const { secret: token, id } = await mesh.token("--models", "scripted/*");
    const ended = await runClient(name, { url: mesh.url, token, model: "scripted/script" }, `Read the note as ${name} would.`);
    const calls = (await mesh.rows("cost", "--by", "token")).find((row) => row.token === id)?.calls ?? 0;
    const isRight = ended.code === 0 && ended.stdout.includes(`Read as ${name} would.`) && Number(calls) >= 2;
    if (!isRight) console.error(`${name} ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
    failed += isRight ? 0 : 1;
    const seconds = ended.milliseconds / 1_000;
    rows.push({
      client: name,
      package: CLIENTS[name]!.npmPackage,
      answer: isRight ? "ok" : "FAILED",
      "calls in the ledger": Number(calls),
      seconds,
    });
  }
  printTable("Clients through the model doors", rows);
} finally {
  await mesh.stop();
}
process.exit(failed === 0 ? 0 : 1);
