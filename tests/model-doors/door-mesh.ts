import { readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const TOOL_CALL = { tool: "weather", arguments: { city: "Bern" } };

/** What the scripted model says through the doors. */
const CONVERSATIONS: readonly object[] = [
  { match: "weather", turns: [{ thinking: "It wants a city.", text: "I look.", toolCalls: [TOOL_CALL] }, { text: "It is sunny." }] },
  { match: "refuse", turns: [{ text: "", refusal: "Not that." }] },
  { match: "overflow", turns: [{ error: { class: "context_overflow" } }] },
  { match: "break off", turns: [{ text: "It begins", error: { class: "permanent", message: "The model is broken." } }] },
  { match: "count slowly", turns: [{ text: "one two three four five six seven eight nine ten ".repeat(200), pieceMilliseconds: 50 }] },
  { match: "", turns: [{ text: "Hello from the script." }] },
];

export interface DoorMesh extends TestMesh {
  /** Of the edge, without a slash at its end. */
  readonly url: string;
  /** A token made by `hlvm token create`, with these flags. @returns its secret and its id */
  readonly token: (...flags: readonly string[]) => Promise<{ readonly secret: string; readonly id: string }>;
  /** What `hlvm …` says as NDJSON. */
  readonly rows: (...words: readonly string[]) => Promise<Record<string, unknown>[]>;
}

/** A mesh with a scripted model. @param first conversations that it has besides its own */
export async function startDoorMesh(more: Readonly<Record<string, string>> = {}, first: readonly object[] = []): Promise<DoorMesh> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-doors-"));
  writeFileSync(join(folder, "script.json"), JSON.stringify({ conversations: [...first, ...CONVERSATIONS] }));
  const price = { model: "scripted/script", from: "2020-01-01", source: "none", input: "1", output: "2", cacheRead: "1", cacheWrite: "1" };
  writeFileSync(join(folder, "prices.json"), JSON.stringify({ prices: [price] }));
  const files = { HLVM_SCRIPT_FILE: join(folder, "script.json"), HLVM_PRICES_FILE: join(folder, "prices.json") };
  const mesh = await startTestMesh({ ...files, ...more });
  const rows: DoorMesh["rows"] = async (...words) => {
    const { stdout, stderr, code } = await mesh.hlvm([...words, "--json"]);
    if (code !== 0) throw new Error(`hlvm ${words.join(" ")}: ${stderr}`);
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  };
  return {
    ...mesh,
    url: mesh.state.edgeUrl.replace(/\/$/, ""),
    rows,
    token: async (...flags) => {
      const [made] = await rows("token", "create", "doors", "--scope", "model", ...flags);
      return { secret: made!.secret as string, id: made!.token_id as string };
    },
  };
}

/** The token of the one user of this machine. */
export function userToken({ state }: TestMesh): string {
  return readFileSync(state.tokenFile, "utf8").trim();
}
