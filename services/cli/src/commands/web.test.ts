import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

/** An edge that gives this answer to whoever has the token, and an HLVM directory that names it. */
async function meshWith(answer: object): Promise<{ directory: string; edgeUrl: string; asked: string[] }> {
  const asked: string[] = [];
  const edge = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`);
    response.end(JSON.stringify(answer));
  });
  await once(edge.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void edge.close());
  const directory = temporaryFolder();
  const edgeUrl = `http://127.0.0.1:${(edge.address() as AddressInfo).port}`;
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, "the token\n");
  mkdirSync(join(directory, "run"));
  const state = { supervisorPid: process.pid, edgeUrl, tokenFile, startedAt: "2026-11-21T10:00:00Z", services: [] };
  writeFileSync(join(directory, "run", "mesh.json"), JSON.stringify(state));
  return { directory, edgeUrl, asked };
}

it("prints a link with a code, which it got for the token file, and where nothing opens a browser too", async () => {
  const { directory, edgeUrl, asked } = await meshWith({ code: "abc" });
  for (const words of [["web", "--print"], ["web"]]) {
    // Nothing but Node is on this path.
    const hlvm = runHlvm(words, { environment: { HLVM_DIR: directory, PATH: directory } });
    expect([await hlvm.ended, hlvm.stdout]).toEqual([0, `${edgeUrl}/#code=abc\n`]);
  }
  expect(asked).toEqual(Array.from({ length: 2 }, () => "POST /auth/code Bearer the token"));
});

it("says what the edge says, and what to do where no mesh is up", async () => {
  const { directory } = await meshWith({
    error: { reason: "person_needed", message: "A token does not open the page.", advice: "Come yourself." },
  });
  const refused = runHlvm(["web"], { environment: { HLVM_DIR: directory } });
  expect(await refused.ended).toBe(1);
  expect(refused.stderr).toContain("A token does not open the page.");
  const alone = runHlvm(["web"]);
  expect(await alone.ended).toBe(1);
  expect(alone.stderr).toContain("npm start");
});
