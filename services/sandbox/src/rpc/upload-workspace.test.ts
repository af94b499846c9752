import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execFileSync } from "node:child_process";
import { ChangedFile_Content_Kind as Kind } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commitFiles, createRepository, git } from "../testing/git-repository.ts";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const CHUNK_BYTES = 1_000;
const service = useTestService();
let repository: string;

beforeAll(() => {
  repository = createRepository({ "a.txt": "one\ntwo\nthree\n", "gone.txt": "gone\n", ".gitignore": "built\n" });
});
afterAll(() => rmSync(repository, { recursive: true }));

interface Packed {
  readonly head: string;
  readonly snapshot: string;
  readonly pack: Buffer;
}

/** Two commits, as a person's machine sends them: what is committed, and the files as they are. */
function packed(): Packed {
  const head = git(repository, ["rev-parse", "HEAD"]);
  writeFileSync(join(repository, "a.txt"), "one\nTWO\nthree\n");
  writeFileSync(join(repository, "new.bin"), Buffer.alloc(5_000, "\0\u0001\u0002"));
  const snapshot = commitFiles(repository, {});
  git(repository, ["update-ref", "refs/heads/main", head]);
  const ids = git(repository, ["rev-list", "--objects", head, snapshot]).replaceAll(/ .*/g, "");
  const pack = execFileSync("git", ["pack-objects", "--stdout", "-q"], { cwd: repository, input: `${ids}\n` });
  return { head, snapshot, pack };
}

const options = (principal = testPrincipal) => service.headersOf(principal);

async function begin(
  sessionId: string,
  { head, snapshot, pack }: Packed,
  principal = testPrincipal,
  more: { readonly size?: bigint } = {},
) {
  const sha256 = createHash("sha256").update(pack).digest("hex");
  const upload = { sessionId, name: "teapot", head, snapshot, branch: "main", sha256, size: BigInt(pack.length), ...more };
  return Number((await service.client.beginUpload(upload, await options(principal))).received);
}

async function send(sessionId: string, { pack }: Packed, from = 0, to = pack.length, principal = testPrincipal): Promise<void> {
  for (let offset = from; offset < to; offset += CHUNK_BYTES) {
    const data = new Uint8Array(pack.subarray(offset, Math.min(offset + CHUNK_BYTES, to)));
    await service.client.uploadChunk({ sessionId, offset: BigInt(offset), data }, await options(principal));
  }
}

const finish = async (sessionId: string, principal = testPrincipal) => service.client.finishUpload({ sessionId }, await options(principal));
const changes = async (sessionId: string, principal = testPrincipal) => service.client.getChanges({ sessionId }, await options(principal));

async function upload(sessionId = randomUUID()): Promise<{ sessionId: string; path: string }> {
  const what = packed();
  await begin(sessionId, what);
  await send(sessionId, what);
  const { workspace } = await finish(sessionId);
  return { sessionId, path: workspace!.path };
}

describe("an upload", () => {
  it("becomes a workspace with what is committed and what is not, each as such", async () => {
    const { sessionId, path } = await upload();
    expect(basename(path)).toBe("teapot");
    await service.client.openWorkspace({ sessionId, path: "" }, await options());
    const { content } = await service.execute({ sessionId, tool: "shell_exec", given: { command: "git status --short; cat a.txt" } });
    expect(content).toBe(" M a.txt\n?? new.bin\none\nTWO\nthree\n");
    expect(git(path, ["rev-parse", "HEAD"])).toBe(git(repository, ["rev-parse", "HEAD"]));
    expect(await changes(sessionId)).toMatchObject({ files: [], leftOut: [] });
  });

  it("goes on where it was cut off, also when a chunk comes twice", async () => {
    const [sessionId, what] = [randomUUID(), packed()];
    expect(await begin(sessionId, what)).toBe(0);
    await send(sessionId, what, 0, 300);
    await service.restart();
    expect(await begin(sessionId, what)).toBe(300);
    await send(sessionId, what, 200);
    await finish(sessionId);
    expect(await begin(sessionId, what)).toBe(what.pack.length);
    await finish(sessionId);
  });

  it("is refused where bytes are missing, were changed, or are more than was said", async () => {
    const [sessionId, what] = [randomUUID(), packed()];
    await begin(sessionId, what);
    await send(sessionId, what, 0, 100);
    expect(await refusal(finish(sessionId))).toBe("FailedPrecondition upload_incomplete");
    expect(await refusal(send(sessionId, what, 200))).toBe("FailedPrecondition upload_out_of_order");
    const other = { ...what, pack: Buffer.concat([what.pack.subarray(0, 100), Buffer.alloc(what.pack.length - 100)]) };
    expect(await refusal(begin(sessionId, other))).toBe("FailedPrecondition upload_differs");
    await send(sessionId, other, 100);
    expect(await refusal(send(sessionId, { ...what, pack: Buffer.alloc(what.pack.length + 1) }, what.pack.length))).toBe(
      "FailedPrecondition upload_differs",
    );
    expect(await refusal(finish(sessionId))).toBe("FailedPrecondition upload_damaged");
    expect(await begin(sessionId, what)).toBe(0);
    expect(await refusal(begin(randomUUID(), what, testPrincipal, { size: 9n * 1024n * 1024n }))).toBe(
      "ResourceExhausted workspace_too_large",
    );
  });

  it("is its owner's: a stranger can neither add to it, nor finish it, nor read what was changed", async () => {
    const [sessionId, what] = [randomUUID(), packed()];
    await begin(sessionId, what);
    expect(await refusal(begin(sessionId, what, stranger))).toBe("NotFound session_not_found");
    expect(await refusal(send(sessionId, what, 0, 10, stranger))).toBe("NotFound session_not_found");
    await send(sessionId, what);
    expect(await refusal(finish(sessionId, stranger))).toBe("NotFound session_not_found");
    await finish(sessionId);
    expect(await refusal(changes(sessionId, stranger))).toBe("NotFound session_not_found");
  });
});

describe("a workspace whose placement is forgotten", () => {
  it("is still nobody's but its owner's, by its own record", async () => {
    const { sessionId } = await upload();
    const file = join(service.stateDirectory, "workspaces", sessionId, "record.json");
    const record = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...record, owner: { organization: stranger.organization, id: stranger.id } }));
    expect(await refusal(changes(sessionId))).toBe("NotFound session_not_found");
    const opened = service.client.openWorkspace({ sessionId, path: "" }, await options());
    expect(await refusal(opened)).toBe("NotFound workspace_not_found");
  });
});

describe("GetChanges", () => {
  it("tells what a session changed since the upload, whatever it did to its own .git, and not what is ignored", async () => {
    const { sessionId, path } = await upload();
    const before = readFileSync(join(path, "new.bin"));
    writeFileSync(join(path, "a.txt"), "ONE\nTWO\nthree\n");
    writeFileSync(join(path, "new.bin"), Buffer.from([0, 255]));
    rmSync(join(path, "gone.txt"));
    rmSync(join(path, ".git"), { recursive: true });
    mkdirSync(join(path, "built"));
    writeFileSync(join(path, "built", "large"), "x");
    writeFileSync(join(path, "run\nme"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("a.txt", join(path, "link"));
    const { files, leftOut } = await changes(sessionId);
    const told = files.map(({ path: name, before: old, after }) => [
      Buffer.from(name).toString(),
      old === undefined ? undefined : [old.kind, Buffer.from(old.bytes)],
      after === undefined ? undefined : [after.kind, Buffer.from(after.bytes)],
    ]);
    expect(told).toEqual([
      ["a.txt", [Kind.FILE, Buffer.from("one\nTWO\nthree\n")], [Kind.FILE, Buffer.from("ONE\nTWO\nthree\n")]],
      ["gone.txt", [Kind.FILE, Buffer.from("gone\n")], undefined],
      ["link", undefined, [Kind.LINK, Buffer.from("a.txt")]],
      ["new.bin", [Kind.FILE, before], [Kind.FILE, Buffer.from([0, 255])]],
      ["run\nme", undefined, [Kind.EXECUTABLE, Buffer.from("#!/bin/sh\n")]],
    ]);
    expect(leftOut).toEqual([]);
  });

  it("names a repository within the workspace and tells the rest", async () => {
    const { sessionId, path } = await upload();
    mkdirSync(join(path, "inner [1]"));
    git(join(path, "inner [1]"), ["init", "-q"]);
    writeFileSync(join(path, "a.txt"), "other\n");
    expect(await changes(sessionId)).toMatchObject({ files: [{ path: new Uint8Array(Buffer.from("a.txt")) }], leftOut: ["inner [1]"] });
  });

  it("refuses more than a message holds", async () => {
    const { sessionId, path } = await upload();
    writeFileSync(join(path, "large"), Buffer.alloc(13 * 1024 * 1024, "x"));
    expect(await refusal(changes(sessionId))).toBe("ResourceExhausted changes_too_large");
  });

  it("says of a session on a folder of the machine that it has no workspace of its own", async () => {
    const { sessionId } = await service.open();
    expect(await refusal(changes(sessionId))).toBe("NotFound workspace_not_found");
  });
});
