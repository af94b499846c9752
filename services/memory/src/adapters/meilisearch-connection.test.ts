import { EventEmitter, once } from "node:events";
import { expect, it } from "vitest";
import { standInIndex } from "../testing/stand-in-index.ts";
import { MeilisearchFactWriter } from "./meilisearch-fact-writer.ts";

const never = new AbortController().signal;
const document = { id: "1", audience: "a", stems: "turbin" };

it("a call ends at its deadline, also where the client's method takes no signal", async () => {
  const silent = await standInIndex(() => undefined);
  const late = { cause: { name: "TimeoutError" } };
  await expect(silent.client(50, never).index("facts").addDocuments([document])).rejects.toMatchObject(late);
  await expect(silent.client(50, never).tasks.waitForTask(7, { timeout: 0 })).rejects.toMatchObject(late);
});

it("a task that is never done is not waited for beyond the deadline", async () => {
  const busy = await standInIndex((_request, response) => void response.end(JSON.stringify({ uid: 7, status: "processing" })));
  const { tasks } = busy.client(200, never);
  await expect(tasks.waitForTask(7, { timeout: 0, interval: 5 })).rejects.toMatchObject({ cause: { name: "TimeoutError" } });
});

it("closing the writer ends the request that is under way, and the wait for a task", async () => {
  const asked = new EventEmitter();
  for (const silentAt of ["POST", "GET"]) {
    const index = await standInIndex((request, response) => {
      if (request.method === silentAt) asked.emit("silent");
      else response.end(JSON.stringify({ taskUid: 7 }));
    });
    const writer = new MeilisearchFactWriter(index);
    void once(asked, "silent").then(() => writer.close());
    await expect(writer.put([document])).rejects.toMatchObject({ cause: { name: "AbortError" } });
  }
});

it("a task that fails says why", async () => {
  const index = await standInIndex((request, response) => {
    const task = { status: "failed", error: { code: "no_space_left_on_device", message: "No space left on device." } };
    response.end(JSON.stringify(request.method === "POST" ? { taskUid: 7 } : task));
  });
  await expect(new MeilisearchFactWriter(index).put([document])).rejects.toThrow("Task 7 of Meilisearch failed: No space left on device.");
});
