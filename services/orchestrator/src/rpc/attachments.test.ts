import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { AttachmentSchema, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ExportFormat } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Principal } from "@hlvm/identity/principal";
import { valuesOf } from "../testing/event-values.ts";
import { PIXEL } from "../testing/pixel.ts";
import { readCall } from "../testing/read-call.ts";
import { say } from "../testing/say.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useReplaceableProcess, isCase, shellCall } from "../testing/replaceable-process.ts";
import { runCallsOnce } from "../testing/run-calls-once.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../testing/usual-behaviour.ts";

const test = useTestOrchestrator({ HLVM_OUTPUT_RESERVE_TOKENS: "1000" });
const ben: Principal = { organization: "local", id: "user:ben", roles: ["developer"] };
const PDF = Buffer.from("%PDF-1.7\n%%EOF\n");
const shot = create(AttachmentSchema, { path: "/home/ada/shot.png", data: PIXEL });
const paper = create(AttachmentSchema, { path: "paper.pdf", data: PDF });
const SEEING = { ...usualBehaviour.model, takesImages: true, takesDocuments: true };
const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");

type PartValue = { readonly case?: string; readonly value?: unknown };
/** The parts of people's messages as the model was last given them. */
const given = (from = test): PartValue[] => from.fake.seen.requests.at(-1)!.messages.flatMap(({ parts }) => parts.map(({ part }) => part));
const files = (from = test) => given(from).filter((part) => part.case === "image" || part.case === "document");
const texts = () => given().flatMap(({ case: kind, value }) => (kind === "text" ? [String(value)] : []));
const count = async (sessionId: string): Promise<number> =>
  Number((await test.database.query<{ count: string }>("SELECT count(*) FROM attachment WHERE session_id = $1", [sessionId]))[0]!.count);

describe("images and documents", () => {
  it("reach a model that takes them, in every turn and the next run, and are kept once, beside the events", async () => {
    test.fake.behaviour.model = SEEING;
    test.answers(["I look.", [readCall("a")]], ["A pixel."]);
    const { sessionId, events } = await test.run("What is this?", { attachments: [shot, paper, shot] });
    const image = { case: "image", value: { mediaType: "image/png", width: 1, height: 1, name: "shot.png" } };
    expect(files()).toMatchObject([image, { case: "document", value: { mediaType: "application/pdf", name: "paper.pdf" } }, image]);
    expect(files().map(({ value }) => Buffer.from((value as { data: Uint8Array }).data))).toEqual([PIXEL, PDF, PIXEL]);
    const [first] = valuesOf(events, "userMessage");
    expect(first!.attachments).toMatchObject([
      { path: "/home/ada/shot.png", mediaType: "image/png", sha256: sha256(PIXEL), size: PIXEL.length, width: 1, height: 1 },
      { path: "paper.pdf", mediaType: "application/pdf", sha256: sha256(PDF), size: PDF.length },
      { path: "/home/ada/shot.png" },
    ]);
    expect(first!.attachments.every(({ data }) => data.length === 0)).toBe(true);
    expect(await count(sessionId)).toBe(2);
    test.answers(["still"]);
    await test.run("And now?", { sessionId });
    expect(files()).toHaveLength(3);
  });

  it("that a model cannot be given are refused before anything runs, and told to one that comes later", async () => {
    const refused = test.run("What is this?", { attachments: [shot] });
    await expect(refused).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: "test/model takes no images, and /home/ada/shot.png is attached.",
    });
    expect(test.fake.seen.closed).toHaveLength(1);
    test.fake.behaviour.model = { ...SEEING, takesDocuments: false };
    await expect(test.run("Read it.", { attachments: [paper] })).rejects.toMatchObject({ rawMessage: expect.stringContaining("no PDF") });
    test.fake.behaviour.model = SEEING;
    test.answers(["A pixel."]);
    const { sessionId } = await test.run("What is this?", { attachments: [shot] });
    test.fake.behaviour.model = usualBehaviour.model;
    await test.run("And now?", { sessionId });
    expect(files()).toEqual([]);
    expect(texts()).toContain("[image shot.png, 1x1, not shown: this model takes no images]");
  });

  it.each([
    ["a PNG that is cut", PIXEL.subarray(0, 40), "cannot be attached: its end is missing"],
    ["a PDF without an end", Buffer.from("%PDF-1.7\nx"), "cannot be attached: its end is missing"],
    ["a bomb", bomb(), "100000x100000; an image may have 8,000 pixels a side"],
    ["a program", Buffer.from("\x7fELF\0\0"), "is neither text in UTF-8 nor an image or document"],
  ])("are told from their bytes, whatever is said of them: %s", async (_, data, words) => {
    test.fake.behaviour.model = SEEING;
    const attachment = create(AttachmentSchema, {
      path: "shot.png",
      data,
      mediaType: "image/png",
      sha256: sha256(PIXEL),
      width: 1,
      height: 1,
    });
    await expect(test.run("q", { attachments: [attachment] })).rejects.toMatchObject({ rawMessage: expect.stringContaining(words) });
    expect(test.fake.seen.requests).toEqual([]);
  });

  it("are at most eight with a message, and of a session that has more the latest are shown", async () => {
    test.fake.behaviour.model = SEEING;
    test.answers(["ok"]);
    const attachments = (from: number) =>
      Array.from({ length: 8 }, (_, index) => create(AttachmentSchema, { path: `${from + index}.png`, data: PIXEL }));
    await expect(test.run("q", { attachments: [...attachments(0), shot] })).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const { sessionId } = await test.run("q", { attachments: attachments(0) });
    for (let round = 1; round <= 4; round++) await test.run("q", { sessionId, attachments: attachments(round * 8) });
    expect(files().map(({ value }) => (value as { name: string }).name)).toEqual(
      Array.from({ length: 32 }, (_, index) => `${index + 8}.png`),
    );
    expect(texts()).toContain("[image 7.png, 1x1, not shown: later files take its room]");
  });

  it("count in the context, and are shown there with where they come from", async () => {
    test.fake.behaviour.model = SEEING;
    test.answers(["ok"]);
    const large = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(64_000, 32), Buffer.from("%%EOF\n")]);
    const { sessionId } = await test.run("q", { attachments: [create(AttachmentSchema, { path: "large.pdf", data: large })] });
    const { fragments } = await test.orchestrator.client.getContext({ sessionId }, await test.orchestrator.as(ada));
    const shown = fragments.find(({ source }) => source === "attachment large.pdf");
    expect(shown).toMatchObject({ preview: "[document large.pdf]" });
    // A thirty-second of its bytes, corrected by half by what the provider counted.
    expect(shown!.tokens).toBeGreaterThan(900);
  });

  it("that come with a message to a run that goes on are before its model in the next turn, and in the run after it", async () => {
    test.fake.behaviour.model = SEEING;
    test.answers(["I run it.", [shellCall("make")]], ["A pixel."]);
    const gate = Promise.withResolvers<void>();
    runCallsOnce(test.fake.behaviour, () => gate.promise.then(() => ({ success: true, content: "", summary: "" })));
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("toolOutput"));
    const send = async (attachments: Attachment[]) =>
      test.orchestrator.client.sendMessage({ sessionId, text: "And this?", attachments }, await test.orchestrator.as(ada));
    const notes = create(AttachmentSchema, { path: "notes.txt", text: "Notes." });
    await send([shot, notes]);
    const cut = create(AttachmentSchema, { path: "cut.png", data: PIXEL.subarray(0, 40) });
    const long = create(AttachmentSchema, { path: "long.txt", text: "x".repeat(1024 * 1024) });
    await expect(send([cut])).rejects.toMatchObject({ rawMessage: expect.stringContaining("its end is missing") });
    await expect(send([long])).rejects.toMatchObject({ rawMessage: expect.stringContaining("larger than 1 MB together") });
    gate.resolve();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "messageQueued")).toMatchObject([
      {
        text: "And this?",
        attachments: [{ path: "/home/ada/shot.png", sha256: sha256(PIXEL), data: new Uint8Array() }, { path: "notes.txt" }],
      },
    ]);
    expect(files().map(({ value }) => Buffer.from((value as { data: Uint8Array }).data))).toEqual([PIXEL]);
    expect(texts()).toContain('<attachment path="notes.txt">\nNotes.\n</attachment>');
    await test.run("And now?", { sessionId });
    expect(files()).toHaveLength(1);
  });

  it("are refused with a message whose model cannot be given them, and where a session has no room for more", async () => {
    const tool = Promise.withResolvers<void>();
    test.answers(["I run it.", [shellCall("make")]], ["ok"]);
    runCallsOnce(test.fake.behaviour, () => tool.promise.then(() => ({ success: true, content: "", summary: "" })));
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("toolOutput"));
    const own = await test.orchestrator.as(ada);
    const sent = test.orchestrator.client.sendMessage({ sessionId, text: "And this?", attachments: [shot] }, own);
    await expect(sent).rejects.toMatchObject({ rawMessage: "test/model takes no images, and /home/ada/shot.png is attached." });
    tool.resolve();
    expect(valuesOf(await test.watch(sessionId, sequence), "messageQueued")).toEqual([]);
    const filled = "INSERT INTO attachment SELECT $1, $2, 'application/pdf', convert_to(repeat('x', 268435456), 'UTF8')";
    await test.database.query(filled, [sessionId, sha256(PDF)], "fill");
    test.fake.behaviour.model = SEEING;
    await expect(test.run("q", { sessionId, attachments: [shot] })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: `Session ${sessionId} has 256 MB of images and documents; it may have 256 MB.`,
    });
  });

  it("go with a session's export, import and fork, and with nobody who may not read it", async () => {
    test.fake.behaviour.model = SEEING;
    test.answers(["ok"]);
    const { sessionId } = await test.run("q", { attachments: [shot] });
    const { client, as } = test.orchestrator;
    const [own, foreign] = [await as(ada), await as(ben)];
    const exported = async (format: ExportFormat, options = own) => {
      let text = "";
      for await (const piece of client.exportSession({ sessionId, format }, options)) text += piece.text;
      return text;
    };
    await expect(exported(ExportFormat.NDJSON, foreign)).rejects.toMatchObject({ code: Code.NotFound });
    expect(await exported(ExportFormat.MARKDOWN)).toContain(`Attached: /home/ada/shot\\.png (image/png, 1x1, ${PIXEL.length} bytes)`);
    const ndjson = await exported(ExportFormat.NDJSON);
    const copies = [
      (await client.importSession({ ndjson, workspace: "/home/ada/mine" }, own)).session!,
      (await client.forkSession({ sessionId }, own)).session!,
    ];
    await client.deleteSession({ sessionId }, own);
    expect(await count(sessionId)).toBe(0);
    for (const copy of copies) {
      await test.run("And now?", { sessionId: copy.sessionId });
      expect(files()).toMatchObject([{ case: "image", value: { name: "shot.png" } }]);
    }
    const forged = ndjson.replace(Buffer.from(PIXEL).toString("base64"), Buffer.from("GIF89a").toString("base64"));
    await expect(client.importSession({ ndjson: forged, workspace: "/w" }, own)).rejects.toMatchObject({
      rawMessage: expect.stringMatching(/^Line 2 of the file cannot be imported: its attachment .* is no image/),
    });
  });

  it("are folded into a summary by name where the context is compacted", { timeout: 30_000 }, async () => {
    test.fake.behaviour.model = { ...SEEING, contextWindow: 16_384 };
    const summarized: string[] = [];
    let turn = 0;
    test.fake.behaviour.generate = async function* (request) {
      const text = request.messages.flatMap(({ parts }) => parts.map(({ part }) => String(part.value))).join("\n");
      if (request.tools.length === 0) summarized.push(text);
      yield* request.tools.length === 0
        ? say("## Done: looked.")
        : turn++ % 30 < 28 && turn > 2
          ? say("", [readCall(`file-${turn}`)])
          : say("ok");
    };
    test.fake.behaviour.execute = async function* () {
      yield { event: { case: "result", value: { success: true, content: "words of it ".repeat(500), summary: "long" } } };
    };
    const { sessionId } = await test.run("The task.");
    await test.run("Look.", { sessionId, attachments: [shot] });
    expect(files()).toHaveLength(1);
    await test.run("Read everything.", { sessionId });
    expect(summarized.join("\n")).toContain("[image shot.png, 1x1]");
    expect(files()).toEqual([]);
  });
});

describe("images of a run whose process is killed", () => {
  const start = useReplaceableProcess();

  it("are before the model again in the process that goes on with it", { timeout: 30_000 }, async () => {
    const { test: replaced } = await start();
    const gate = Promise.withResolvers<void>();
    replaced.fake.behaviour.model = SEEING;
    replaced.answers(["I run it.", [shellCall("make")]], ["Done."]);
    const ran = runCallsOnce(replaced.fake.behaviour, () => gate.promise.then(() => ({ success: true, content: "", summary: "" })));
    const { sessionId, sequence } = await replaced.ask("q", { attachments: [shot] });
    await replaced.watch(sessionId, sequence, isCase("toolOutput"));
    await replaced.orchestrator.stop("SIGKILL");
    gate.resolve();
    replaced.orchestrator = await replaced.startProcess();
    await replaced.watch(sessionId, sequence);
    const data = files(replaced as never).map(({ value }) => Buffer.from((value as { data: Uint8Array }).data));
    expect([data, ran.length]).toEqual([[PIXEL], 1]);
  });
});

/** Says that it has ten thousand million pixels. */
function bomb(): Buffer {
  const copy = Buffer.from(PIXEL);
  copy.writeUInt32BE(100_000, 16);
  copy.writeUInt32BE(100_000, 20);
  return copy;
}
