import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { PreparedWorkspace } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { startGitServer, type Intercept } from "@hlvm/testing/git-server";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commitFiles, createRepository, git } from "../testing/git-repository.ts";
import { refusal } from "../testing/refusal.ts";
import { startTestService, type TestService } from "../testing/start-test-service.ts";
import { stranger } from "../testing/stranger.ts";

const PASSWORD = "a-token-that-nobody-may-read";
let service: TestService;
let server: Awaited<ReturnType<typeof startGitServer>>;
let repository: string;
let first: string;
let intercept: Intercept = () => false;

beforeAll(async () => {
  repository = createRepository({ "README.md": "# Teapot\n" });
  first = git(repository, ["rev-parse", "HEAD"]);
  git(repository, ["tag", "-a", "v1", "-m", "one"]);
  for (let count = 0; count < 60; count++) commitFiles(repository, { "count.txt": `${count}\n` });
  git(repository, ["branch", "feature/tea", first]);
  server = await startGitServer(dirname(repository), (...given) => intercept(...given));
  service = await startTestService({ gitPrivateHosts: ["localhost"], gitFolders: [repository] });
});

afterAll(async () => {
  await Promise.all([service.close(), server.close()]);
  rmSync(repository, { recursive: true });
});

interface Cloned {
  readonly sessionId: string;
  readonly progress: string[];
  readonly workspace: PreparedWorkspace;
}

async function clone(url: string, ref = "", principal = testPrincipal, sessionId: string = randomUUID()): Promise<Cloned> {
  const progress: string[] = [];
  for await (const { event } of service.client.cloneWorkspace({ sessionId, url, ref }, await service.headersOf(principal))) {
    if (event.case === "workspace") return { sessionId, progress, workspace: event.value };
    progress.push(String(event.value));
  }
  throw new Error("there was no workspace");
}

const address = (): string => `${server.url}/${basename(repository)}`;
const workspaces = (): string[] => readdirSync(join(service.stateDirectory, "workspaces"));

describe("CloneWorkspace", () => {
  it("makes a workspace of the newest commits of a repository on an HTTPS server, and a session works in it", async () => {
    const { sessionId, workspace, progress } = await clone(address());
    expect(workspace).toMatchObject({ branch: "main", commit: git(repository, ["rev-parse", "HEAD"]) });
    expect(progress).toEqual(expect.arrayContaining([expect.stringContaining("localhost"), "unpacking"]));
    const opened = await service.client.openWorkspace({ sessionId, path: "" }, await service.headersOf(testPrincipal));
    expect(opened).toMatchObject({ path: workspace.path, gitRepository: true, gitBranch: "main" });
    const command = "git status --short; git rev-list --count HEAD; cat count.txt; git config remote.origin.url";
    const { content } = await service.execute({ sessionId, tool: "shell_exec", given: { command } });
    expect(content).toBe(`50\n59\n${address()}\n`);
  });

  it.each([
    ["feature/tea", "feature/tea"],
    ["v1", ""],
    ["a whole commit id", ""],
  ])("takes %s for a reference", async (ref, branch) => {
    const { workspace } = await clone(address(), ref.startsWith("a ") ? first : ref);
    expect(workspace).toMatchObject({ branch, commit: first });
    expect(git(workspace.path, ["status", "--short"])).toBe("");
    expect(git(workspace.path, ["rev-parse", "--abbrev-ref", "HEAD"])).toBe(branch === "" ? "HEAD" : branch);
  });

  it("clones by file:// from the folders that the operator allows, and from no other", async () => {
    const { workspace } = await clone(`file://${repository}`, "feature/tea");
    expect(workspace).toMatchObject({ branch: "feature/tea", commit: first });
    for (const path of [tmpdir(), service.stateDirectory, `${repository}/../`, "/nowhere"])
      expect(await refusal(clone(`file://${path}`))).toBe("PermissionDenied repository_not_allowed");
  });

  it("uses a name and password for the fetch alone, and keeps them nowhere", async () => {
    const seen: (string | undefined)[] = [];
    intercept = ({ headers }, response) => {
      seen.push(headers.authorization);
      if (headers.authorization !== undefined) return false;
      response.writeHead(401).end();
      return true;
    };
    try {
      expect(await refusal(clone(address()))).toBe("PermissionDenied repository_refused");
      const { workspace, sessionId } = await clone(address().replace("://", `://ada:${PASSWORD}@`));
      expect(seen.at(-1)).toBe(`Basic ${Buffer.from(`ada:${PASSWORD}`).toString("base64")}`);
      expect(readFileSync(join(workspace.path, ".git", "config"), "utf8")).not.toContain(PASSWORD);
      expect(readFileSync(join(service.stateDirectory, "workspaces", sessionId, "record.json"), "utf8")).not.toContain(PASSWORD);
    } finally {
      intercept = () => false;
    }
  });

  it("says what is not there, and leaves nothing behind", async () => {
    const before = workspaces();
    expect(await refusal(clone(address(), "no-such-branch"))).toBe("NotFound reference_not_found");
    expect(await refusal(clone(address(), "0".repeat(40)))).toBe("NotFound reference_not_found");
    expect(await refusal(clone(`${server.url}/no-such-repository`))).toBe("NotFound repository_not_found");
    expect(workspaces()).toEqual(before);
  });

  it("refuses a repository that is larger than a workspace may be", async () => {
    const large = createRepository({ zeros: "0".repeat(9 * 1024 * 1024) });
    git(large, ["gc", "-q"]);
    try {
      expect(await refusal(clone(`${server.url}/${basename(large)}`))).toBe("ResourceExhausted workspace_too_large");
    } finally {
      rmSync(large, { recursive: true });
    }
  });

  it("keeps a workspace for the person who made it, and for its own session", async () => {
    const { sessionId, workspace } = await clone(address());
    const open = async (id: string, path: string, principal = testPrincipal): Promise<unknown> =>
      service.client.openWorkspace({ sessionId: id, path }, await service.headersOf(principal));
    expect(await refusal(open(sessionId, "", stranger))).toBe("NotFound session_not_found");
    expect(await refusal(open(randomUUID(), workspace.path))).toBe("NotFound workspace_not_found");
    expect(await refusal(clone(address(), "", stranger, sessionId))).toBe("NotFound session_not_found");
    expect(await refusal(clone(address(), "", testPrincipal, sessionId))).toBe("AlreadyExists workspace_already_prepared");
    await open(sessionId, workspace.path);
  });

  it("is gone with its session", async () => {
    const { sessionId, workspace } = await clone(address());
    const close = async (principal = testPrincipal): Promise<unknown> =>
      service.client.closeWorkspace({ sessionId }, await service.headersOf(principal));
    expect(await refusal(close(stranger))).toBe("NotFound session_not_found");
    expect(existsSync(workspace.path)).toBe(true);
    await close();
    expect(existsSync(dirname(dirname(workspace.path)))).toBe(false);
  });
});
