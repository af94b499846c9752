import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putLlamaProgram } from "@hlvm/testing/llama-program";
import { processesMatching } from "@hlvm/testing/processes-matching";
import { writeRandomModel } from "@hlvm/testing/random-model";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { runHlvm, type RunningHlvm } from "../testing/run-hlvm.ts";

const URL = "http://127.0.0.1:11439";
const READY = "A mesh on this machine finds it as local/tiny";
const folder = mkdtempSync(join(tmpdir(), "hlvm-serve-"));
const unavailable = await putLlamaProgram(folder);
const reason = unavailable === "" ? "" : ` (skipped: ${unavailable})`;
const environment = { PATH: `${folder}:${process.env.PATH}` };
const model = join(folder, "tiny.gguf");
writeRandomModel(model);

describe.skipIf(reason !== "")(`hlvm model serve runs a real llama-server${reason}`, () => {
  let serving: RunningHlvm | undefined;

  const serve = (path: string): RunningHlvm => (serving = runHlvm(["model", "serve", path, "--context", "4096"], { environment }));
  /** Those of this test alone: their model lies in its folder. */
  const processes = (): number[] => processesMatching(new RegExp(`--model ${folder}/`));
  const models = async (): Promise<string[]> => {
    const { data } = (await (await fetch(`${URL}/v1/models`)).json()) as { readonly data: readonly { readonly id: string }[] };
    return data.map(({ id }) => id);
  };

  afterEach(async () => {
    serving?.child.kill("SIGKILL");
    await serving?.ended;
    await expect.poll(processes).toEqual([]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("says that it is there once it answers, keeps conversations apart, and unloads it at Ctrl-C", async () => {
    const { shows, child, ended } = serve(model);
    await shows(READY);
    expect(await models()).toEqual(["tiny"]);
    const slots = (await (await fetch(`${URL}/slots`)).json()) as readonly { readonly n_ctx: number }[];
    expect(slots.map(({ n_ctx: window }) => window)).toEqual([4_096, 4_096]);
    const asked = { messages: [{ role: "user", content: "Hello" }], max_tokens: 4 };
    const answer = await fetch(`${URL}/v1/chat/completions`, { method: "POST", body: JSON.stringify(asked) });
    expect(await answer.json()).toMatchObject({ object: "chat.completion", model: "tiny" });
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    await expect(fetch(URL)).rejects.toThrow("fetch failed");
    expect(processes()).toEqual([]);
  });

  it("starts no second one beside it, nor where anything else listens, and says so", async () => {
    const first = serve(model);
    await first.shows(READY);
    const second = runHlvm(["model", "serve", model], { environment });
    expect(await second.ended).toBe(1);
    expect(second.stderr).toContain("Something listens at 127.0.0.1:11439 already");
    expect(await models()).toEqual(["tiny"]);
    first.child.kill("SIGINT");
    await first.ended;
    const other = createServer((_request, response) => void response.end("[]"));
    await once(other.listen(11_439, "127.0.0.1"), "listening");
    try {
      const third = runHlvm(["model", "serve", model], { environment });
      expect(await third.ended).toBe(1);
      expect(third.stderr).toContain("Something listens at 127.0.0.1:11439 already");
      expect(third.stderr).not.toContain(READY);
      expect(processes()).toEqual([]);
    } finally {
      other.closeAllConnections();
      other.close();
    }
  });

  it("starts it again where it was killed, and gives up where that goes on", async () => {
    const running = serve(model);
    const timesReady = (): number => running.stderr.split(READY).length - 1;
    await expect.poll(timesReady).toBe(1);
    for (const time of [1, 2]) {
      const [before] = processes();
      process.kill(before!, "SIGKILL");
      await expect.poll(timesReady).toBe(time + 1);
      expect(processes()).toHaveLength(1);
      expect(await models()).toEqual(["tiny"]);
    }
    process.kill(processes()[0]!, "SIGKILL");
    expect(await running.ended).toBe(1);
    expect(running.stderr).toContain("ended by SIGKILL. It is started again.");
    expect(running.stderr).toContain("time 3 within a minute");
    await expect(fetch(URL)).rejects.toThrow("fetch failed");
  });

  it("leaves none behind where it is killed itself, and the next one finds its port free", async () => {
    const first = serve(model);
    await first.shows(READY);
    first.child.kill("SIGKILL");
    await first.ended;
    await expect.poll(processes).toEqual([]);
    await serve(model).shows(READY);
  });

  it("says what is wrong with a file that is no model, and with one that was cut", async () => {
    const page = join(folder, "page.gguf");
    writeFileSync(page, "<!doctype html><title>Not found</title>");
    const refused = serve(page);
    expect(await refused.ended).toBe(1);
    expect(refused.stderr).toContain(`${page} is no GGUF file`);
    const cut = join(folder, "cut.gguf");
    writeFileSync(cut, readFileSync(model));
    truncateSync(cut, 100_000);
    const failed = serve(cut);
    expect(await failed.ended).toBe(1);
    expect(failed.stderr).toContain(`could not serve ${cut}`);
    expect(failed.stderr).toContain("The file may be cut");
    expect(failed.stderr).not.toContain("A mesh on this machine");
    expect(failed.stderr).not.toMatch(/\n\s+at .*:\d+/);
  });
});
