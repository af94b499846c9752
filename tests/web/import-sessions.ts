import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestMesh } from "../e2e/test-mesh.ts";

/** Imports sessions with Claude Code, each of what its person and the model said in turns. */
export async function importSessions(mesh: TestMesh, sessions: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hlvm-claude-"));
  const folder = join(home, "projects", "-src-web-shop");
  mkdirSync(folder, { recursive: true });
  for (const [session, texts] of Object.entries(sessions)) {
    const records = texts.map((content, at) => {
      const type = at % 2 === 0 ? "user" : "assistant";
      return { type, uuid: `${session}-${at}`, timestamp: "2026-11-01T12:00:00Z", cwd: "/src/web-shop", message: { role: type, content } };
    });
    writeFileSync(join(folder, `${session}.jsonl`), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
  const environment = { CLAUDE_CONFIG_DIR: home };
  await mesh.hlvm(["memory", "source", "add", "claude-code"], { environment });
  await mesh.hlvm(["memory", "source", "scan"], { environment });
  rmSync(home, { recursive: true });
}
