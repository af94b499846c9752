import { createClient, type Transport } from "@connectrpc/connect";
import { SandboxService, type ReadInstructionsResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { TrustService, type TrustedFile } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { confirm } from "../terminal/confirm.ts";
import { printableLine } from "../terminal/printable.ts";
import { changeOf, instructionLines, type ShownInstruction } from "../trust/instruction-lines.ts";

export interface TrustAddFlags {
  readonly session?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Trusts the instructions of a workspace as they are now, when the person has seen them and said yes: of a folder, or of
 * whatever a session works in.
 */
export async function trustAdd(folder: string | undefined, flags: TrustAddFlags, context: CommandContext): Promise<number> {
  if (folder !== undefined && flags.session !== undefined) throw wrongUsage("A folder and a session are named.", "Name one of the two.");
  const asked = flags.session === undefined ? { path: readWorkspace(folder ?? ".") } : { sessionId: flags.session };
  return withMesh(context, async (transport) => {
    const found = await createClient(SandboxService, transport).readInstructions({ ...asked, all: true });
    const { shown, files } = await compare(found, transport);
    const note = (text: string): void => context.screen.note(text);
    if (files.length === 0 && shown.every((one) => changeOf(one) !== "gone")) {
      for (const one of shown) for (const line of instructionLines(one)) note(line);
      note(`There are no instructions to trust in ${printableLine(found.workspace)}.`);
      return shown.length === 0 ? EXIT_OK : EXIT_FAILED;
    }
    const isSame = shown.every((one) => ["same", "refused"].includes(changeOf(one)));
    if (!isSame && flags.yes !== true) {
      const lines = [`Instructions of ${printableLine(found.workspace)}:`, ...shown.flatMap(instructionLines)];
      if (found.more) lines.push("There are more than were looked for; those stay untrusted.");
      lines.push(
        "They will steer the agent in your runs there. They allow nothing by themselves, and a changed text is asked about again.",
      );
      if (!(await confirm(lines, "Trust them?", context))) {
        note("Nothing was trusted.");
        return EXIT_FAILED;
      }
    }
    const trust = createClient(TrustService, transport);
    if (files.length === 0) await trust.removeTrust({ workspace: found.workspace });
    else if (!isSame) await trust.addTrust({ workspace: found.workspace, files });
    if (flags.json === true) process.stdout.write(jsonLine(asJson(found.workspace, shown)));
    else
      note(
        `${isSame ? "Already trusted" : "Trusted"}: ${found.workspace}, ${files.map(({ path }) => path).join(", ") || "nothing any more"}.`,
      );
    return EXIT_OK;
  });
}

/** What is there beside what was trusted before. */
async function compare(
  { workspace, files: found }: ReadInstructionsResponse,
  transport: Transport,
): Promise<{ readonly shown: readonly ShownInstruction[]; readonly files: Pick<TrustedFile, "path" | "sha256" | "text">[] }> {
  const { workspaces } = await createClient(TrustService, transport).listTrust({ workspace });
  const trusted = workspaces.flatMap((one) => one.files);
  const textOf = (path: string): string | undefined => trusted.find((file) => file.path === path)?.text;
  const shown: ShownInstruction[] = found.map(({ file }) => {
    const { path = "", text = "", refusal = "" } = file ?? {};
    return { path, text, trustedText: textOf(path), refusal };
  });
  const there = new Set(shown.map(({ path }) => path));
  const gone = trusted.filter(({ path }) => !there.has(path)).map(({ path, text }) => ({ path, trustedText: text, refusal: "" }));
  const files = found.flatMap(({ file, sha256 }) =>
    file === undefined || file.refusal !== "" ? [] : [{ path: file.path, sha256, text: file.text }],
  );
  return { shown: [...shown, ...gone], files };
}

function asJson(workspace: string, shown: readonly ShownInstruction[]) {
  return { type: "trust", workspace, files: shown.map((one) => ({ path: one.path, change: changeOf(one), refusal: one.refusal })) };
}
