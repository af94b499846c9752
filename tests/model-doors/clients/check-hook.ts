import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { meshStateFile } from "@hlvm/mesh/mesh-state";
import type { DoorMesh } from "../door-mesh.ts";
import type { ClientHome } from "./client-home.ts";
import { OWN_HOOK_RAN, type Client } from "./clients.ts";
import { RECORDED_ANSWER, type RecordingProvider } from "./recording-provider.ts";

export const FACT = "The boiler valve opens at four bar";
const QUESTION = "At how many bar does the boiler valve open?";
/** 60 tokens of about 4 characters. */
const MOST_CHARACTERS = 240;
const MODE = 0o640;

/**
 * The recall hook in a home that the client made: its model is pointed to a fact once, in shadow mode never, where no mesh answers the
 * prompt goes through as it is; and nothing of it stays in the settings.
 * @returns the block
 * @throws AssertionError
 */
export async function checkHook(
  mesh: DoorMesh,
  client: ClientHome,
  provider: RecordingProvider,
  { source, hooks }: Pick<Client, "source" | "hooks">,
): Promise<string> {
  const settings = join(client.home, hooks!.settings);
  writeFileSync(settings, hooks!.before);
  chmodSync(settings, MODE);
  const nowhere = mkdtempSync(join(tmpdir(), "hlvm-nowhere-"));
  const hook = async (directory: string, ...words: string[]): Promise<string> => {
    const environment = { HOME: client.home, HLVM_DIR: directory };
    const ended = await mesh.hlvm(["hook", ...words], { environment });
    assert.equal(ended.code, 0, ended.stderr);
    return ended.stdout;
  };
  const install = (directory: string, ...words: string[]) => hook(directory, "install", "--tool", source, ...words);
  const uninstall = async (directory: string): Promise<void> => {
    await hook(directory, "uninstall", "--tool", source);
    assert.equal(readFileSync(settings, "utf8"), hooks!.before);
    assert.equal(statSync(settings).mode & 0o777, MODE);
  };
  let runs = 0;
  /** What the provider was asked since. */
  const asked = async (how: "ask" | "goOn"): Promise<readonly string[]> => {
    const before = provider.asked(QUESTION).length;
    const ended = await client[how](QUESTION);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, new RegExp(RECORDED_ANSWER));
    runs += 1;
    assert.equal(readFileSync(join(client.home, OWN_HOOK_RAN), "utf8"), "ran\n".repeat(runs), "the person's own hook");
    const bodies = provider.asked(QUESTION).slice(before);
    assert.ok(bodies.length > 0);
    return bodies;
  };
  const [fact] = await mesh.rows("memory", "write", "--scope", "personal", FACT);
  try {
    await install(mesh.directory, "--live");
    assert.match(await hook(mesh.directory, "test", QUESTION), /four bar/);
    const [block, ...others] = blocksIn((await asked("ask")).at(-1)!);
    assert.deepEqual(others, []);
    assert.match(
      block!,
      new RegExp(`^<hlvm-memory id="[0-9a-f]{8}">\\nhlvm memory show ID:\\n${String(fact!.fact_id)} ${FACT}\\n</hlvm-memory>$`),
    );
    assert.ok(block!.length <= MOST_CHARACTERS);
    // What was put before the model stays in the conversation, and nothing is added to it.
    assert.deepEqual(blocksIn((await asked("goOn")).at(-1)!), [block]);

    await install(mesh.directory);
    for (const body of await asked("ask")) assert.deepEqual(blocksIn(body), []);
    assert.equal(lastNoted(mesh.directory).decision, "injected");
    assert.equal(lastNoted(mesh.directory).live, false);
    await uninstall(mesh.directory);

    leaveDeadMesh(nowhere, mesh.state.tokenFile);
    await install(nowhere, "--live");
    for (const body of await asked("ask")) assert.deepEqual(blocksIn(body), []);
    assert.equal(lastNoted(nowhere).decision, "no-answer");
    await uninstall(nowhere);
    return block!;
  } finally {
    rmSync(nowhere, { recursive: true });
    await mesh.hlvm(["memory", "end", String(fact!.fact_id), "--yes"]);
  }
}

/** What memory put into a request. */
function blocksIn(body: string): string[] {
  const texts: string[] = [];
  JSON.parse(body, (_, value: unknown) => (typeof value === "string" && texts.push(value), value));
  return texts.flatMap((text) => text.match(/<hlvm-memory\b[^]*?(?:<\/hlvm-memory>|$)/g) ?? []);
}

function lastNoted(directory: string): { readonly decision: string; readonly live: boolean } {
  const lines = readFileSync(join(directory, "hooks.jsonl"), "utf8").trim().split("\n");
  return JSON.parse(lines.at(-1)!) as { decision: string; live: boolean };
}

/** Of a mesh whose edge is gone while its supervisor still is there. */
function leaveDeadMesh(directory: string, tokenFile: string): void {
  mkdirSync(join(directory, "run"));
  writeFileSync(meshStateFile(directory), JSON.stringify({ supervisorPid: process.pid, edgeUrl: "http://127.0.0.1:1/", tokenFile }));
}
