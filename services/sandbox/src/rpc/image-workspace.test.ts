import { createHash, randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { createRepository, git } from "../testing/git-repository.ts";
import { writeBundle } from "../testing/image-bundle.ts";
import { refusal } from "../testing/refusal.ts";
import { startTestService, type TestService } from "../testing/start-test-service.ts";

const images = mkdtempSync(join(tmpdir(), "hlvm-images-"));
let service: TestService;
const env = ["PATH=/opt:/usr/bin", "GREETING=hello", "HOME=/root", "LD_PRELOAD=/evil.so"];
let repository: string;

beforeAll(async () => {
  repository = createRepository({ "a.txt": "one\n" });
  writeBundle(join(images, "tools_1.0"), { env, cwd: "/app" });
  service = await startTestService({ images });
});
afterAll(async () => {
  await service.close();
  for (const path of [repository, images]) rmSync(path, { recursive: true });
});

async function upload(image: string): Promise<string> {
  const sessionId = randomUUID();
  const head = git(repository, ["rev-parse", "HEAD"]);
  const ids = git(repository, ["rev-list", "--objects", head]).replaceAll(/ .*/g, "");
  const pack = execFileSync("git", ["pack-objects", "--stdout", "-q"], { cwd: repository, input: `${ids}\n` });
  const sha256 = createHash("sha256").update(pack).digest("hex");
  const options = await service.headersOf(testPrincipal);
  const upload = { sessionId, name: "task", head, snapshot: head, branch: "main", sha256, size: BigInt(pack.length), image };
  await service.client.beginUpload(upload, options);
  await service.client.uploadChunk({ sessionId, offset: 0n, data: new Uint8Array(pack) }, options);
  await service.client.finishUpload({ sessionId }, options);
  await service.client.openWorkspace({ sessionId, path: "" }, options);
  return sessionId;
}

const shell = (sessionId: string, command: string) => service.execute({ sessionId, tool: "shell_exec", given: { command } });

describe("a workspace in an image", () => {
  it("has its commands run with what the image has, and nothing of this machine's", async () => {
    const sessionId = await upload("tools:1.0");
    const { content, success } = await shell(
      sessionId,
      "only-here; cat a.txt; cat /app/a.txt; ls /; ls /usr/bin; echo $GREETING $HOME $LD_PRELOAD.",
    );
    expect([success, content]).toEqual([true, expect.stringMatching(/^from the image\none\none\n/)]);
    const [, , , ...rest] = content.trim().split("\n");
    expect(rest.slice(0, rest.indexOf("cat"))).toEqual(["app", "bin", "dev", "etc", "home", ...rest.slice(5, rest.indexOf("cat"))]);
    expect(rest.slice(rest.indexOf("cat"), -1)).toEqual(["cat", "env", "ls", "prlimit", "sh", "touch"]);
    expect(rest.at(-1)).toBe("hello /home/hlvm .");
    expect(await service.execute({ sessionId, tool: "read_file", given: { path: "a.txt" } })).toMatchObject({ success: true });
  });

  it("keeps the image as it is, and shows none of this machine's files where the image has links", async () => {
    const sessionId = await upload("tools:1.0");
    const { content } = await shell(sessionId, "touch /opt/x; touch /x; cat /etc/passwd; ls /home; touch b.txt && ls");
    expect(content).toMatch(/\/opt\/x.*Read-only/);
    expect(content).toMatch(/\/x.*Read-only/);
    expect(content).toMatch(/etc\/passwd.*No such file/);
    expect(content).toMatch(/hlvm\n.*a\.txt\nb\.txt\n/s);
    expect(content).not.toMatch(/root:/);
  });

  it("is refused where there is no such image, and wherever a name would lead out of the folder", async () => {
    for (const image of ["other:1.0", "a/../../etc", "tools"]) expect(await refusal(upload(image))).toBe("NotFound image_not_found");
    expect(await refusal(upload(".."))).toMatch(/^InvalidArgument/);
  });
});
