import { describe, expect, it } from "vitest";
import { nativeTools } from "@hlvm/tools/native-tools";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { GENERAL_AGENT } from "../workers/run-agent.ts";
import { compilePrompt } from "./compile-prompt.ts";
import type { PromptInput, Tier } from "./section.ts";

const session = { workspace: "/home/ada/shop", gitRepository: true, gitBranch: "main", stateless: false };
const promptFor = (tier: Tier, more: Partial<PromptInput> = {}): string =>
  compilePrompt({ session, tier, tools: nativeTools, agent: GENERAL_AGENT, ...more });
const like = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  ...nativeTools[0]!,
  name,
  replaces: undefined,
  ...more,
});
const headings = (prompt: string): string[] => [...prompt.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);

describe("compilePrompt", () => {
  it("gives a weak model the rules, and a larger one what it can make use of besides", () => {
    expect(headings(promptFor("weak"))).toEqual([
      "Rules",
      "What counts first",
      "Environment",
      "Instructions of the user and the workspace",
      "Tips",
    ]);
    const mid = ["Rules", "What counts first", "Tool routing", "Permission levels", "Planning", "Workers", "Memory", "Environment"];
    expect(headings(promptFor("mid"))).toEqual([...mid, "Instructions of the user and the workspace", "Examples", "Tips"]);
    expect(promptFor("frontier")).toBe(promptFor("mid"));
  });

  it("tells a weak model what not to do, and spares the others that", () => {
    expect(promptFor("weak")).toContain("Do NOT:");
    expect(promptFor("weak")).toContain("Never change them with sed");
    expect(promptFor("mid")).not.toContain("Do NOT:");
  });

  it("speaks of tools only where they are there", () => {
    const later = [like("web_search")];
    const plugin = like("server_restart", { trustTier: "plugin" });
    const prompt = promptFor("mid", { tools: [...nativeTools, ...later, plugin] });
    for (const heading of ["Planning", "Workers", "The web: web_search", "Tools that act elsewhere: server_restart"])
      expect(headings(prompt)).toContain(heading);
    expect(prompt).toContain("- todo: for a task");
    expect(promptFor("mid")).not.toMatch(/## (The web|Tools that act)/);
    expect(promptFor("weak", { tools: [...nativeTools, ...later, plugin] })).not.toContain("## Workers");
    expect(
      promptFor("mid", { tools: nativeTools.filter(({ name, category }) => category !== "meta" && name !== "spawn_worker") }),
    ).not.toMatch(/## (Planning|Workers)/);
  });

  it("routes from the shell to the tools with the reason, one row for each that replaces something", () => {
    const rows = promptFor("mid").match(/^\| .+ \| .+ \| .+ \|$/gm)!;
    expect(rows).toContain("| grep, rg | search_code | path:line results, respects .gitignore |");
    expect(rows).toHaveLength(nativeTools.filter((tool) => tool.replaces !== undefined).length + 1);
    expect(promptFor("mid", { tools: [like("alone")] })).not.toContain("## Tool routing");
  });

  it("has for a model without tools no word of any", () => {
    const prompt = promptFor("mid", { tools: [] });
    expect(prompt).toContain("You have no tools here");
    expect(prompt).toContain("## What counts first");
    expect(prompt).not.toMatch(/executor|shell_exec|read_file/);
  });

  it("is the same for the same input, and says what is special of a session", () => {
    expect(promptFor("mid")).toBe(promptFor("mid"));
    expect(promptFor("mid", { session: { ...session, stateless: true } })).toContain("Nothing of this session is kept");
  });
});
