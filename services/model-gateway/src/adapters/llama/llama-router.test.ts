import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startLlamaRouter } from "@hlvm/testing/llama-router";
import type { Generation } from "../../domain/generation.ts";
import { askAgain, generationOf, said, textIn } from "../suite/generations.ts";
import { LlamaProvider } from "./llama-provider.ts";

const attempt = await startLlamaRouter(["first", "second"], ["broken"]);
const reason = "unavailable" in attempt ? ` (skipped: ${attempt.unavailable})` : "";

const asked = (model: string, text = "Say something.", maximumOutputTokens = 8): Generation => ({
  ...generationOf(model, [said("user", text)]),
  tools: [],
  maximumOutputTokens,
});

describe.skipIf("unavailable" in attempt)(
  `a real llama-server that is a router${reason}`,
  () => {
    const router = attempt as Exclude<typeof attempt, { unavailable: string }>;
    let provider: LlamaProvider;
    const answer = async (generation: Generation): Promise<string> => textIn(await askAgain("llama", provider, generation));
    beforeAll(() => void (provider = new LlamaProvider({ urls: [router.url] })));
    afterAll(() => router.stop());

    it("offers its models, and loads each when it is first asked", async () => {
      expect((await provider.list()).map(({ name }) => name).toSorted()).toEqual(["broken", "first", "second"]);
      for (const model of ["first", "second"]) expect(await answer(asked(model))).not.toBe("");
      const models = await readModels();
      expect(models.get("first")).toBe("loaded");
      expect(models.get("second")).toBe("loaded");
    });

    it("knows of a model that is loaded its window and its slots, and gives none of them more requests than it has", async () => {
      await answer(asked("first"));
      const [instance] = await provider.pool.instances();
      instance!.doubt();
      const listed = await provider.list();
      expect(listed.find(({ name }) => name === "first")!.contextWindow).toBe(8_192);
      const seen: number[] = [];
      const over = new AbortController();
      const watching = (async () => {
        while (!over.signal.aborted) {
          const slots = await fetch(`${router.url}/slots?model=first&autoload=false`)
            .then((answer) => answer.json() as Promise<{ is_processing: boolean }[]>)
            .catch(() => []);
          seen.push(slots.filter(({ is_processing: isBusy }) => isBusy).length);
        }
      })();
      const answers = await Promise.all(
        ["a", "b", "c", "d", "e"].flatMap((text) => ["first", "second"].map((model) => answer(asked(model, text, 60)))),
      );
      over.abort();
      await watching;
      expect(answers.filter((text) => text === "")).toEqual([]);
      expect(Math.max(...seen)).toBeLessThanOrEqual(2);
      const group = (await provider.pool.instances())[0]!.groups.find(({ models }) => models.some(({ name }) => name === "first"))!;
      expect(group.slots).toBe(2);
    });

    it("that cannot load a model says so of that model, offers it no more, and answers for the others", async () => {
      await expect(answer(asked("broken"))).rejects.toThrow(/failed to load/);
      const [instance] = await provider.pool.instances();
      instance!.doubt();
      await expect
        .poll(async () => (await provider.list()).map(({ name }) => name).toSorted(), { timeout: 10_000 })
        .toEqual(["first", "second"]);
      expect(await answer(asked("second"))).not.toBe("");
    });

    async function readModels(): Promise<Map<string, string>> {
      const { data } = (await (await fetch(`${router.url}/v1/models`)).json()) as { data: { id: string; status: { value: string } }[] };
      return new Map(data.map(({ id, status }) => [id, status.value]));
    }
  },
  60_000,
);
