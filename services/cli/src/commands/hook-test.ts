import { randomUUID } from "node:crypto";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { edgeMemory } from "../hook/answer-hook.ts";
import type { HookTool } from "../hook/hook-tool.ts";
import { hookOutput, runHook } from "../hook/run-hook.ts";
import { fromCurrentFolder } from "../options/from-current-folder.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

export interface HookTestFlags {
  readonly tool: HookTool;
  readonly json?: boolean;
}

/** What a hook would say of a prompt in a conversation that begins with it; nothing is noted anywhere, and no mesh is started. */
export async function hookTest(prompt: string, flags: HookTestFlags, { config, screen }: CommandContext): Promise<number> {
  const begun = performance.now();
  const { tool } = flags;
  const outcome = await runHook(tool, eventOf(prompt, tool), {
    memory: edgeMemory(config, new AbortController().signal, () => undefined),
    memos: { load: () => ({ shown: [], pointers: 0 }), save: () => undefined },
  });
  const { decision, facts, shown, session } = outcome;
  const output = hookOutput(tool, outcome);
  const ids = new Set(shown.map(({ id }) => id));
  const milliseconds = Math.round(performance.now() - begun);
  const listed = facts.map(({ id, text, score, coverage, gate }) => ({ fact_id: id, text, score, coverage, gate, shown: ids.has(id) }));
  if (flags.json === true) process.stdout.write(jsonLine({ tool, decision, facts: listed, session, output, ms: milliseconds }));
  else {
    screen.note(`${decision}, ${milliseconds} ms`);
    const rows = listed.map(({ fact_id: id, text, score, coverage, gate, shown: isShown }) => {
      const covers = coverage === undefined ? "" : `${coverage.toFixed(2)} ${coverage >= gate! ? "≥" : "<"} ${gate!.toFixed(2)}`;
      return [isShown ? "*" : "", id, score?.toFixed(2) ?? "", covers, text];
    });
    if (rows.length > 0) process.stderr.write(table(["", "FACT", "SCORE", "COVERS", "TEXT"], rows));
    process.stdout.write(output);
  }
  return EXIT_OK;
}

/** Cursor has no prompts for us: the start of a conversation is tried in their place. */
function eventOf(prompt: string, tool: HookTool): string {
  const folder = fromCurrentFolder(".");
  if (tool === "cursor")
    return JSON.stringify({ hook_event_name: "sessionStart", conversation_id: randomUUID(), workspace_roots: [folder] });
  return JSON.stringify({ hook_event_name: "UserPromptSubmit", session_id: randomUUID(), cwd: folder, prompt });
}
