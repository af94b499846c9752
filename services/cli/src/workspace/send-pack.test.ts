import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SandboxService, type BeginUploadRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { packFolder } from "./pack-folder.ts";
import { sendPack } from "./send-pack.ts";

const git = (folder: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], { cwd: folder })
    .toString("utf8")
    .trimEnd();

/** A repository with a commit, a staged file, a changed one, a deleted one, a new one, an ignored one and one with a secret. */
function repositoryInUse(): string {
  const folder = temporaryFolder();
  git(folder, "init", "-q", "-b", "main");
  const write = (path: string, content: string | Uint8Array): void => writeFileSync(join(folder, path), content);
  for (const path of ["changed", "deleted", "kept"]) write(path, "before\n");
  write(".gitignore", "ignored\n");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "first");
  write("staged", "staged\n");
  git(folder, "add", "staged");
  write("changed", Buffer.from([0, 1, 2]));
  rmSync(join(folder, "deleted"));
  write("new", "new\n");
  write("ignored", "ignored\n");
  write(".env", `TOKEN=ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}\n`);
  mkdirSync(join(folder, "inner"));
  git(join(folder, "inner"), "init", "-q");
  return folder;
}

/** A sandbox service that keeps what it gets. It loses its caller after each `breaksAfter` chunks, three times. */
async function startReceiver(breaksAfter: number, limit = Infinity) {
  const receiver = { pack: Buffer.alloc(0), begun: [] as BeginUploadRequest[], offsets: [] as number[] };
  let chunks = 0;
  let breaks = 0;
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: (next) => (request) => next(request),
    routes: (router) =>
      router.service(SandboxService, {
        beginUpload: (request) => {
          if (request.size > limit)
            throw new HlvmError({ code: "resource_exhausted", reason: "workspace_too_large", message: "Too large.", advice: "Less." });
          receiver.begun.push(request);
          return { received: BigInt(receiver.pack.length) };
        },
        uploadChunk: ({ offset, data }) => {
          receiver.offsets.push(Number(offset));
          receiver.pack = Buffer.concat([receiver.pack.subarray(0, Number(offset)), data]);
          if (++chunks % breaksAfter === 0 && ++breaks <= 3)
            throw new HlvmError({ code: "unavailable", reason: "cut", message: "The connection was cut for the test.", advice: "Go on." });
          return { received: BigInt(receiver.pack.length) };
        },
        finishUpload: () => ({ workspace: { path: "/w" } }),
      }),
  });
  onTestFinished(() => server.close());
  return { receiver, client: createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${server.port}`)) };
}

const { signal } = new AbortController();

describe("packFolder", () => {
  it("packs what is committed and what is not, without what is ignored or looks like a secret, and changes nothing", async () => {
    const folder = repositoryInUse();
    const before = [git(folder, "status", "--porcelain"), git(folder, "count-objects", "-v"), readdirSync(join(folder, ".git")).join()];
    using pack = await packFolder(folder, { sendsSecrets: false, signal });
    expect([git(folder, "status", "--porcelain"), git(folder, "count-objects", "-v"), readdirSync(join(folder, ".git")).join()]).toEqual(
      before,
    );
    expect(pack).toMatchObject({
      branch: "main",
      head: git(folder, "rev-parse", "HEAD"),
      secretFiles: [".env"],
      otherRepositories: ["inner/"],
    });
    const copy = temporaryFolder();
    git(copy, "init", "-q");
    execFileSync("sh", ["-c", 'git index-pack --stdin < "$1"', "sh", pack.file], { cwd: copy, stdio: "ignore" });
    const files = git(copy, "ls-tree", "-r", "--name-only", pack.snapshot).split("\n");
    expect(files).toEqual([".gitignore", "changed", "kept", "new", "staged"]);
    expect(git(copy, "rev-list", "--count", pack.snapshot)).toBe("2");
    using all = await packFolder(folder, { sendsSecrets: true, signal });
    expect(all.secretFiles).toEqual([]);
  });

  it("packs a repository without a commit, and says that another folder is none", async () => {
    const folder = temporaryFolder();
    await expect(packFolder(folder, { sendsSecrets: false, signal })).rejects.toMatchObject({ reason: "not_a_repository" });
    git(folder, "init", "-q", "-b", "trunk");
    writeFileSync(join(folder, "new"), "new\n");
    using pack = await packFolder(folder, { sendsSecrets: false, signal });
    expect(pack).toMatchObject({ head: "", branch: "trunk", shallow: [] });
  });

  it("sends the newest 50 commits and says where they end", async () => {
    const folder = temporaryFolder();
    git(folder, "init", "-q");
    for (let count = 0; count < 53; count++) git(folder, "commit", "-q", "--allow-empty", "-m", String(count));
    using pack = await packFolder(folder, { sendsSecrets: false, signal });
    expect(pack.shallow).toEqual([git(folder, "rev-parse", "HEAD~49")]);
  });
});

describe("sendPack", () => {
  it("goes on where it was when the connection is cut, and sends every byte", async () => {
    const folder = repositoryInUse();
    writeFileSync(join(folder, "large"), Buffer.from(Array.from({ length: 3_500_000 }, () => Math.floor(Math.random() * 256))));
    using pack = await packFolder(folder, { sendsSecrets: false, signal });
    const { receiver, client } = await startReceiver(1);
    await sendPack(client, { sessionId: randomUUID(), pack, signal, onProgress: () => undefined });
    expect(createHash("sha256").update(receiver.pack).digest("hex")).toBe(pack.sha256);
    expect(new Set(receiver.offsets).size).toBe(receiver.offsets.length);
    expect(new Set(receiver.begun.map(({ sha256, sessionId }) => sha256 + sessionId)).size).toBe(1);
  });

  it("names the largest files where it is too much", async () => {
    const folder = repositoryInUse();
    writeFileSync(join(folder, "large"), Buffer.alloc(2 * 1024 * 1024, "x"));
    using pack = await packFolder(folder, { sendsSecrets: false, signal });
    const { client } = await startReceiver(1, 1);
    const sent = sendPack(client, { sessionId: randomUUID(), pack, signal, onProgress: () => undefined });
    await expect(sent).rejects.toMatchObject({ reason: "workspace_too_large", message: expect.stringContaining("2.0 MiB large") });
  });
});
