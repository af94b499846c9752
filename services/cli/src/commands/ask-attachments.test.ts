import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { answers } from "../testing/answers.ts";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const PDF = "%PDF-1.7\n%%EOF\n";

function folderWithFiles(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "shot.png"), PIXEL);
  writeFileSync(join(folder, "no extension"), PIXEL);
  writeFileSync(join(folder, "paper.pdf"), PDF);
  writeFileSync(join(folder, "notes.txt"), "Notes.");
  writeFileSync(join(folder, "liar.png"), "no image");
  writeFileSync(join(folder, "cut.png"), PIXEL.subarray(0, 40));
  return folder;
}

describe("hlvm ask with images and documents", () => {
  it("--attach tells them from their bytes, and sends each as it is", async () => {
    const edge = await edgeWith(answers);
    const attached = ["shot.png", "no extension", "paper.pdf", "notes.txt", "liar.png"];
    const words = attached.flatMap((path) => ["--attach", path]);
    const hlvm = runHlvm(["ask", ...words, "q"], { edgeUrl: edge.url, workingDirectory: folderWithFiles() });
    expect(await hlvm.ended).toBe(0);
    const sent = edge.requests[0]!.attachments.map(({ path, text, data }) => [path, text === "" ? Buffer.from(data) : text]);
    expect(sent).toEqual([
      ["shot.png", PIXEL],
      ["no extension", PIXEL],
      ["paper.pdf", Buffer.from(PDF)],
      ["notes.txt", "Notes."],
      ["liar.png", "no image"],
    ]);
  });

  it("--attach refuses an image that is none, and more than a message may have, before anything is asked", async () => {
    const edge = await edgeWith(answers);
    const options = { edgeUrl: edge.url, workingDirectory: folderWithFiles() };
    const cut = runHlvm(["ask", "--attach", "cut.png", "q"], options);
    expect(await cut.ended).toBe(1);
    expect(cut.stderr).toMatch(/^cut\.png cannot be attached: its end is missing\.\nWhat to do: /);
    const many = runHlvm(["ask", ...Array.from({ length: 9 }, () => ["--attach", "shot.png"]).flat(), "q"], options);
    expect(await many.ended).toBe(1);
    expect(many.stderr).toContain("9 images and documents are attached; 8 may be.");
    expect(edge.requests).toEqual([]);
  });

  it("takes an image whose path was pasted into the question, as terminals write it, and says so", async () => {
    const edge = await edgeWith(answers);
    const folder = join(folderWithFiles(), "my pictures");
    mkdirSync(folder);
    for (const name of ["one shot.png", "two.png"]) writeFileSync(join(folder, name), PIXEL);
    symlinkSync("/etc/passwd", join(folder, "link.png"));
    const escaped = join(folder, "one shot.png").replaceAll(" ", "\\ ");
    const question = `Compare ${escaped} with '${join(folder, "two.png")}' not ${join(folder, "link.png")} and ${join(folder, "gone.png")}`;
    const hlvm = runHlvm(["ask", question], { edgeUrl: edge.url, terminal: true });
    expect(await hlvm.ended).toBe(0);
    expect(hlvm.stdout).toContain("attached one shot.png, 1x1; two.png, 1x1");
    const [request] = edge.requests;
    expect(request!.prompt).toBe(question);
    expect(request!.attachments.map(({ path }) => path)).toEqual([join(folder, "one shot.png"), join(folder, "two.png")]);
  });

  it("takes an image that was pasted as data, in whose place a name stands", async () => {
    const edge = await edgeWith(answers);
    const hlvm = runHlvm(["ask", `What is data:image/png;base64,${PIXEL.toString("base64")} ?`], { edgeUrl: edge.url, terminal: true });
    expect(await hlvm.ended).toBe(0);
    expect(edge.requests[0]).toMatchObject({ prompt: "What is pasted-image-1 ?", attachments: [{ path: "pasted-image-1" }] });
    expect(Buffer.from(edge.requests[0]!.attachments[0]!.data)).toEqual(PIXEL);
  });

  it("attaches nothing that a program's question names", async () => {
    const edge = await edgeWith(answers);
    const path = join(folderWithFiles(), "shot.png");
    const hlvm = runHlvm(["ask", `What is ${path} ?`], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(edge.requests[0]!.attachments).toEqual([]);
  });

  it("asks a model that takes no images without those that were pasted, and says so; what was asked for with --attach it needs", async () => {
    const edge = await edgeWith(answers);
    edge.refuseRun = ({ attachments }) =>
      attachments.some(({ data }) => data.length > 0)
        ? new HlvmError({ code: "failed_precondition", reason: "attachment_not_taken", message: "m takes no images." })
        : undefined;
    const folder = folderWithFiles();
    const pasted = runHlvm(["ask", `What is ${join(folder, "shot.png")} ?`], { edgeUrl: edge.url, terminal: true });
    expect(await pasted.ended).toBe(0);
    expect(pasted.stdout).toMatch(/takes no images: it is asked without shot\.png, 1x1\./);
    const attached = runHlvm(["ask", "--attach", join(folder, "shot.png"), "q"], { edgeUrl: edge.url });
    expect(await attached.ended).toBe(1);
    expect(attached.stderr).toContain("m takes no images.");
  });
});

describe("hlvm session send with images and documents", () => {
  const goesOn = () =>
    edgeWith(async (it) => {
      while (it.messages.length === 0) await it.until("sent");
      await answers(it);
    });

  it("sends them to the run that goes on, or with the question of a new one", async () => {
    const edge = await goesOn();
    const options = { edgeUrl: edge.url, workingDirectory: folderWithFiles() };
    const run = runHlvm(["ask", "q"], options);
    await edge.until("watched");
    const words = ["session", "send", edge.sessionId, "And this?", "--attach", "shot.png", "--attach", "notes.txt"];
    expect(await runHlvm(words, options).ended).toBe(0);
    expect(await run.ended).toBe(0);
    expect(edge.messages).toEqual([{ text: "And this?", interrupt: false, attached: ["shot.png", "notes.txt"] }]);
    edge.refusesMessages = true;
    const cut = runHlvm(["session", "send", edge.sessionId, "x", "--attach", "cut.png"], options);
    expect(await cut.ended).toBe(1);
    expect(cut.stderr).toContain("its end is missing");
    expect(await runHlvm(words, options).ended).toBe(0);
    expect(edge.requests.at(-1)!.attachments.map(({ path }) => path)).toEqual(["shot.png", "notes.txt"]);
  });

  it("takes an image that was pasted into the line of a running ask, and leaves it out where the model sees none", async () => {
    for (const refuses of [false, true]) {
      const edge = await edgeWith(async (it) => {
        await it.until("cancelled");
      });
      edge.refusesFiles = refuses;
      const hlvm = runHlvm(["ask", "q"], { edgeUrl: edge.url, terminal: true });
      await hlvm.shows("Type to steer");
      const path = join(folderWithFiles(), "shot.png");
      hlvm.child.stdin!.write(`Like ${path} here\r`);
      await hlvm.shows(refuses ? "takes no images: it is asked without shot.png, 1x1." : `attached ${path}, image/png, 1x1`);
      hlvm.child.stdin!.write("\u0004");
      expect(await hlvm.ended).toBe(1);
      expect(edge.messages).toEqual([{ text: `Like ${path} here`, interrupt: false, ...(refuses ? {} : { attached: [path] }) }]);
    }
  });
});
