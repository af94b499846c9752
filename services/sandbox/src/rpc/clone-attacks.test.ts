import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PreparedWorkspace } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { startGitServer, type Intercept } from "@hlvm/testing/git-server";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { pktLine } from "../adapters/git/pkt-lines.ts";
import { createRepository, git } from "../testing/git-repository.ts";
import { refusal } from "../testing/refusal.ts";
import { startTestService, type TestService } from "../testing/start-test-service.ts";

const AUTHORIZATION = "ada:a-token";
let service: TestService;
let server: Awaited<ReturnType<typeof startGitServer>>;
let repository: string;
let intercept: Intercept = () => false;

beforeAll(async () => {
  repository = createRepository({ "README.md": "# Teapot\n" });
  server = await startGitServer(dirname(repository), (...given) => intercept(...given));
  service = await startTestService({ gitPrivateHosts: ["localhost"] });
});

afterEach(() => {
  intercept = () => false;
});

afterAll(async () => {
  await Promise.all([service.close(), server.close()]);
  rmSync(repository, { recursive: true });
});

async function clone(url: string, ref = ""): Promise<PreparedWorkspace> {
  const request = { sessionId: randomUUID(), url, ref };
  for await (const { event } of service.client.cloneWorkspace(request, await service.headersOf(testPrincipal)))
    if (event.case === "workspace") return event.value;
  throw new Error("there was no workspace");
}

const address = (): string => `${server.url}/${basename(repository)}`;

/** A commit on `main` with a tree that no `git add` makes. */
function commitTree(tree: string): void {
  git(repository, ["update-ref", "refs/heads/main", git(repository, ["commit-tree", tree, "-m", "hostile"])]);
}

const blob = (text: string): string => git(repository, ["hash-object", "-w", "--stdin"], text);
const mktree = (...entries: string[]): string => git(repository, ["mktree"], `${entries.join("\n")}\n`);

describe("what is asked for", () => {
  it.each([
    "ext::sh -c touch% /tmp/owned",
    "--upload-pack=touch /tmp/owned",
    "-oProxyCommand=touch",
    "http://localhost/repository",
    "git://localhost/repository",
    "ssh://-oProxyCommand=touch/repository",
    "git@localhost:repository",
    "fd::17",
    "https://localhost/repository?service=x",
    "file://example.com/etc",
  ])("is an https address, and no program: %s", async (url) => {
    expect(await refusal(clone(url))).toBe("InvalidArgument repository_not_allowed");
  });

  it.each(["--upload-pack=x", "-f", "a..b", "main:other", "main^{/x}", "@{-1}", "a b", "a\nb", "*", "x.lock", "/x", "HEAD~1"])(
    "names a branch, a tag or a commit, and nothing else: %s",
    async (ref) => {
      expect(await refusal(clone(address(), ref))).toBe("InvalidArgument reference_invalid");
    },
  );

  it.each([
    "https://127.0.0.1",
    "https://[::1]",
    "https://169.254.169.254",
    "https://10.0.0.1",
    "https://[::ffff:10.0.0.1]",
    "https://0x7f000001",
  ])("is in no private network: %s", async (host) => {
    expect(await refusal(clone(`${host}/repository`))).toBe("PermissionDenied address_not_public");
  });
});

describe("a hostile server", () => {
  it("redirects nowhere but to a repository over HTTPS in a network that is allowed, and gets no password there", async () => {
    const seen: (string | undefined)[] = [];
    let target = "";
    intercept = ({ url, headers }, response) => {
      if (url?.startsWith("/elsewhere") === true) {
        seen.push(headers.authorization);
        response.writeHead(404).end();
        return true;
      }
      response.writeHead(302, { location: target }).end();
      return true;
    };
    const { port } = new URL(server.url);
    const cases: readonly (readonly [string, string])[] = [
      [`http://localhost:${port}/elsewhere/info/refs?service=git-upload-pack`, "FailedPrecondition repository_unreachable"],
      [`https://localhost:${port}/elsewhere/metadata`, "FailedPrecondition repository_unreachable"],
      [`https://127.0.0.1:${port}/elsewhere/info/refs?service=git-upload-pack`, "PermissionDenied address_not_public"],
      [`/again/info/refs?service=git-upload-pack`, "FailedPrecondition repository_unreachable"],
    ];
    for (const [location, told] of cases) {
      target = location;
      expect(await refusal(clone(address().replace("://", `://${AUTHORIZATION}@`)))).toBe(told);
    }
    expect(seen).toEqual([]);
  });

  it.each([
    ["garbage", "<html>", "FailedPrecondition repository_unreachable"],
    ["a line that is cut off", "ffff packfile", "FailedPrecondition repository_unreachable"],
    ["a pack that is none", `${pktLine("packfile\n")}${pktLine("\u0001PACK")}0000`, "FailedPrecondition workspace_git_failed"],
    ["an error of its own", `${pktLine("packfile\n")}${pktLine("\u0003\u001b[2Jno")}0000`, "FailedPrecondition repository_unreachable"],
    [
      "a pack without end",
      `${pktLine("packfile\n")}${pktLine(`\u0001${"x".repeat(60_000)}`).repeat(200)}`,
      "ResourceExhausted workspace_too_large",
    ],
  ])("that sends %s is refused", async (_, answer, told) => {
    let posts = 0;
    intercept = ({ method }, response) => {
      if (method !== "POST" || ++posts < 2) return false;
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).end(answer);
      return true;
    };
    expect(await refusal(clone(address()))).toBe(told);
  });
});

describe("a hostile repository", () => {
  it.each([".git", ".GIT", "git~1", ".git\u200c"])("writes nothing into git's own folder by the name %s", async (name) => {
    const hook = mktree(`100755 blob ${blob("#!/bin/sh\ntouch /workspace/owned\n")}\tpost-checkout`);
    commitTree(mktree(`040000 tree ${mktree(`040000 tree ${hook}\thooks`)}\t${name}`));
    expect(await refusal(clone(address()))).toBe("FailedPrecondition workspace_git_failed");
  });

  it("writes nothing through a link or out of the folder", async () => {
    const target = blob("/tmp");
    commitTree(mktree(`040000 tree ${mktree(`100644 blob ${blob("x")}\towned`)}\t..`));
    expect(await refusal(clone(address()))).toBe("FailedPrecondition workspace_git_failed");
    commitTree(mktree(`120000 blob ${target}\tlink`));
    expect(readdirSync((await clone(address())).path)).toEqual([".git", "link"]);
  });

  it("has neither filter nor hook run, nor a submodule fetched", async () => {
    const files = {
      ".gitattributes": "* filter=evil diff=evil merge=evil\n",
      ".gitconfig": '[filter "evil"]\n\tsmudge = touch /workspace/owned\n',
      ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch /workspace/owned"\n',
      "a.txt": "plain\n",
    };
    const entries = Object.entries(files).map(([name, text]) => `100644 blob ${blob(text)}\t${name}`);
    commitTree(mktree(...entries, `160000 commit ${"1".repeat(40)}\tx`));
    const { path } = await clone(address());
    expect(readdirSync(path).toSorted()).toEqual([".git", ".gitattributes", ".gitconfig", ".gitmodules", "a.txt", "x"]);
    expect(existsSync(join(path, ".git", "hooks"))).toBe(false);
    expect(readdirSync(dirname(path)).toSorted()).toEqual(["base.git", basename(path)].toSorted());
  });

  it("that stands for more files than a disk holds is refused before one is written", async () => {
    let tree = mktree(...Array.from({ length: 10 }, (_, index) => `100644 blob ${blob("x")}\tf${index}`));
    for (let level = 0; level < 9; level++) tree = mktree(...Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}`));
    commitTree(tree);
    expect(await refusal(clone(address()))).toBe("ResourceExhausted workspace_too_large");
  });

  it("has no file of the machine read by a link", async () => {
    const secret = join(service.stateDirectory, "secret");
    writeFileSync(secret, "swordfish");
    commitTree(mktree(`120000 blob ${blob(secret)}\tlink`));
    const sessionId = randomUUID();
    for await (const { event } of service.client.cloneWorkspace({ sessionId, url: address() }, await service.headersOf(testPrincipal)))
      expect(event.case).toBeDefined();
    await service.client.openWorkspace({ sessionId, path: "" }, await service.headersOf(testPrincipal));
    const { content } = await service.execute({ sessionId, tool: "shell_exec", given: { command: "cat link; ls .." } });
    expect(content).not.toContain("swordfish");
    expect(content).not.toContain("base.git");
  });
});
