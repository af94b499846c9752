import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ModelCapability, ModelTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ToolBoundSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { SessionFacts } from "../session/session.ts";
import { GENERAL_AGENT } from "../workers/run-agent.ts";
import { compilePrefix } from "./compile-prefix.ts";

const session: SessionFacts = {
  sessionId: "s",
  owner: "user:ada",
  title: "t",
  workspace: "/home/ada/shop",
  gitRepository: true,
  gitBranch: "main",
  stateless: false,
  secretKey: new Uint8Array(32),
};
const agent = { tier: ModelTier.FRONTIER, capability: ModelCapability.AGENT, contextWindow: 128_000 };

describe("compilePrefix", () => {
  it("gives the same bytes for the same session and model, whichever the run", () => {
    const one = compilePrefix(session, agent);
    const other = compilePrefix({ ...session }, { ...agent });
    expect(other.systemPrompt).toBe(one.systemPrompt);
    expect(other.hash).toBe(one.hash);
    expect(compilePrefix({ ...session, gitBranch: "next" }, agent).hash).not.toBe(one.hash);
  });

  it("routes from the shell's commands to the tools that replace them", () => {
    const { systemPrompt } = compilePrefix(session, agent);
    expect(systemPrompt).toContain("| cat, head, tail | read_file |");
    expect(systemPrompt).toContain("on branch main");
    expect(systemPrompt).toContain("/home/ada/shop");
  });

  it("leaves out tools that a small window has no room for", () => {
    const namesIn = (contextWindow: number) =>
      compilePrefix(session, { tier: ModelTier.FRONTIER, capability: ModelCapability.AGENT, contextWindow }).tools.map(({ name }) => name);
    expect(namesIn(16_384)).not.toContain("wiki_read");
    expect(namesIn(16_384)).toContain("memory_search");
    for (const window of [0, 24_576, 200_000]) expect(namesIn(window)).toEqual(expect.arrayContaining(["wiki_read", "recall_sessions"]));
  });

  it("spares a weak model words and tools", () => {
    const weak = compilePrefix(session, { tier: ModelTier.WEAK, capability: ModelCapability.TOOL, contextWindow: 128_000 });
    expect(weak.systemPrompt).not.toContain("## Tool routing");
    expect(weak.systemPrompt).toContain("You are HLVM, an executor");
    expect(weak.tools.map((tool) => tool.name)).toEqual([
      "read_file",
      "list_files",
      "write_file",
      "edit_file",
      "search_code",
      "shell_exec",
      "read_result",
      "propose_plan",
    ]);
    const asking = { ...GENERAL_AGENT.profile, tools: create(ToolBoundSchema, { tools: ["read_file", "todo", "request_clarification"] }) };
    const narrowed = compilePrefix(
      session,
      { tier: ModelTier.WEAK, capability: ModelCapability.TOOL, contextWindow: 128_000 },
      { ...GENERAL_AGENT, profile: asking },
    );
    expect(narrowed.tools.map((tool) => tool.name)).toEqual(["read_file", "read_result"]);
  });

  it("hands no tools to a model that only chats, and says so", () => {
    const chat = compilePrefix(session, { tier: ModelTier.WEAK, capability: ModelCapability.CHAT, contextWindow: 128_000 });
    expect(chat.modelTools).toEqual([]);
    expect(chat.systemPrompt).toContain("You have no tools here");
    expect(chat.systemPrompt).not.toContain("executor");
  });

  it("offers no memory to a stateless session", () => {
    const names = compilePrefix({ ...session, stateless: true }, agent).tools.map((tool) => tool.name);
    expect(names).toContain("shell_exec");
    expect(names.filter((name) => name.startsWith("memory_"))).toEqual([]);
  });
});
