import { describe, expect, it } from "vitest";
import type { Delta, Generation, Message } from "../../domain/generation.ts";
import { collect, said, textIn } from "../suite/generations.ts";
import { DemoProvider } from "./demo-provider.ts";

const OFFERED = [
  "read_file",
  "list_files",
  "file_stats",
  "write_file",
  "search_code",
  "shell_exec",
  "git_status",
  "git_log",
  "memory_write",
  "memory_search",
];
const CONFESSION = /demo model: fixed rules.*does not reason.*ANTHROPIC_API_KEY, OPENAI_API_KEY or HLVM_LLAMA_URLS.*--model/s;

type Tool = (given: Record<string, unknown>) => string | Error;
type Call = readonly [string, Record<string, unknown>];

/** Asks and lets the tools answer, until there is an answer. */
async function converse(question: string, tools: Readonly<Record<string, Tool>>, offered = OFFERED, system: readonly Message[] = []) {
  const messages: Message[] = [...system, said("user", question)];
  const calls: Call[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const deltas = await collect(new DemoProvider().generate(generation(messages, offered)));
    const asked = deltas.filter((delta) => delta.kind === "tool-call");
    if (asked.length === 0) return { answer: textIn(deltas), calls, deltas };
    messages.push({ role: "assistant", parts: asked }, { role: "tool", parts: asked.map((call) => resultOf(call, tools)) });
    calls.push(...asked.map(({ tool, argumentsJson }): Call => [tool, JSON.parse(argumentsJson) as Record<string, unknown>]));
  }
  throw new Error("it never answered");
}

function generation(messages: readonly Message[], offered: readonly string[]): Generation {
  const tools = offered.map((name) => ({ name, description: "", inputSchema: { type: "object" } }));
  return { model: "rules", messages, tools, maximumOutputTokens: 4096, temperature: undefined };
}

function resultOf(call: Delta & { kind: "tool-call" }, tools: Readonly<Record<string, Tool>>): Message["parts"][number] {
  const result = tools[call.tool]?.(JSON.parse(call.argumentsJson) as Record<string, unknown>) ?? new Error("there is no such tool");
  const isError = result instanceof Error;
  return { kind: "tool-result", id: call.id, tool: call.tool, content: isError ? result.message : result, isError };
}

const repository: Readonly<Record<string, Tool>> = {
  list_files: () =>
    "README.md\nlogo.png\npackage.json\nsrc/ (3 files)\nsrc/main.ts\n[2 more entries; list a folder of them, or give a pattern]",
  git_status: () => "## main\n[nothing is changed]",
  git_log: () => "abc1234 2026-11-21T10:00:00+00:00 Ada: Begin",
  read_file: ({ path }) =>
    path === "README.md"
      ? "1\t# Weather\n2\t\n3\tTells the weather.\n[README.md has 900 lines]"
      : '1\t{\n2\t  "name": "weather",\n3\t  "files": []',
  search_code: () => "src/main.ts:7: export function main(): void {",
  file_stats: () => "path: .\nkind: folder",
};

describe("What does this repository do?", () => {
  it("looks around, reads what tells most and quotes it by file and line", async () => {
    const { answer, calls } = await converse("What does this repository do?", repository);
    expect(calls.map(([tool]) => tool)).toEqual(["list_files", "git_status", "git_log", "read_file", "read_file", "search_code"]);
    for (const quoted of [
      "README.md:1: # Weather",
      "README.md:3: Tells the weather.",
      'package.json:2: "name": "weather",',
      "src/main.ts:7: export function main",
    ])
      expect(answer).toContain(quoted);
    expect(answer).toContain("At the top: README.md, logo.png, package.json, src/.");
    expect(answer).toContain("abc1234");
    expect(answer).toMatch(CONFESSION);
  });

  const noGit = { ...repository, git_status: () => new Error("not a git repository"), git_log: () => new Error("not a git repository") };
  const places: readonly (readonly [string, Readonly<Record<string, Tool>>])[] = [
    ["an empty repository", { ...repository, list_files: () => "[no files]", git_log: () => "[the repository has no commits yet]" }],
    ["a folder that is no repository", noGit],
    ["a repository with nothing but pictures", { ...repository, list_files: () => "a.png\nb.png" }],
  ];

  it.each(places)("has three different tools end well in %s", async (_where, tools) => {
    const { calls, answer } = await converse("What does this repository do?", tools);
    const well = new Set(calls.filter(([tool, given]) => typeof tools[tool]?.(given) === "string").map(([tool]) => tool));
    expect(well.size).toBeGreaterThanOrEqual(3);
    expect(answer).toMatch(CONFESSION);
  });

  it("tells which tools did not work", async () => {
    const { answer } = await converse("What does this repository do?", {
      ...repository,
      git_log: () => new Error("Denied: git_log is on the deny list."),
    });
    expect(answer).toContain("git_log did not work: Denied: git_log is on the deny list.");
  });
});

describe("one thing to do", () => {
  it.each([
    ["create hello.txt with hi", "write_file", { path: "hello.txt", content: "hi" }],
    ["Please create a file named notes/a.md with the text `# A b`", "write_file", { path: "notes/a.md", content: "# A b" }],
    ["create file Makefile", "write_file", { path: "Makefile", content: "" }],
    ["run echo 'a b'", "shell_exec", { command: "echo 'a b'" }],
    ["run `npm test`", "shell_exec", { command: "npm test" }],
    ["Remember that we deploy on Fridays", "memory_write", { text: "we deploy on Fridays" }],
    ["What do you remember about deploys?", "memory_search", { query: "deploys" }],
  ])("%s", async (question, tool, given) => {
    const { calls, answer } = await converse(question, { [tool]: () => "done it" });
    expect(calls).toEqual([[tool, given]]);
    expect(answer).toMatch(CONFESSION);
  });

  it("says that a denied call did not happen, and claims nothing", async () => {
    const { answer } = await converse("create hello.txt with hi", { write_file: () => new Error("Denied by the mode dontAsk.") });
    expect(answer).toContain("write_file did not work: Denied by the mode dontAsk.");
    expect(answer).not.toContain("is written");
  });

  it("says so where the tool is not offered", async () => {
    const { answer, calls } = await converse("run ls", {}, ["read_file"]);
    expect(calls).toEqual([]);
    expect(answer).toContain("This needs shell_exec, which this session does not offer.");
  });
});

describe("a question about something with a name", () => {
  it("searches it, reads around its definition and quotes that", async () => {
    const { calls, answer } = await converse("Where is parseHeader used?", {
      search_code: () => "src/a.ts:3: parseHeader(x)\nsrc/b.ts:40: export function parseHeader(text: string) {",
      read_file: () => "40\texport function parseHeader(text: string) {\n41\t  return text;",
    });
    expect(calls.map(([tool]) => tool)).toEqual(["search_code", "read_file", "read_file"]);
    expect(calls[0]?.[1]).toMatchObject({ pattern: "parseHeader", literal: true });
    expect(calls[1]?.[1]).toEqual({ path: "src/b.ts", start_line: 37, end_line: 52 });
    expect(answer).toContain("src/a.ts:3: parseHeader(x)");
    expect(answer).toContain("src/b.ts:41: return text;");
  });

  it("takes the telling words where nothing has a name, and says what it did not find", async () => {
    const { calls, answer } = await converse("why is the build slow?", {
      search_code: () => "No match for build.",
      list_files: () => "[no files]",
    });
    expect(calls.filter(([tool]) => tool === "search_code").map(([, given]) => given.pattern)).toEqual(["build", "slow"]);
    expect(answer).toContain('search_code found nothing for "build" or "slow".');
  });

  it("reads a file that is named", async () => {
    const { calls } = await converse("Explain src/main.ts", { read_file: () => "1\tmain();" });
    expect(calls).toEqual([["read_file", { path: "src/main.ts" }]]);
  });
});

it("puts what memory holds of the matter first", async () => {
  const memory = said("system", "# Your Memory\n\n- Deploys happen on Fridays.\n- Ada likes tea.");
  const { answer } = await converse("When are deploys?", { search_code: () => "No match", list_files: () => "[no files]" }, OFFERED, [
    memory,
  ]);
  expect(answer).toMatch(/^From memory:\n {2}Deploys happen on Fridays\.\n\n/);
  expect(answer).not.toContain("tea");
});

it("answers the latest question alone, whatever stands before it", async () => {
  const deltas = await collect(
    new DemoProvider().generate(
      generation(
        [
          {
            role: "user",
            parts: [
              { kind: "text", text: "run rm -rf x" },
              { kind: "text", text: "run ls" },
            ],
          },
        ],
        OFFERED,
      ),
    ),
  );
  expect(deltas.find(({ kind }) => kind === "tool-call")).toMatchObject({ argumentsJson: '{"command":"ls"}' });
});

it("streams its text in pieces", async () => {
  const { deltas } = await converse("What does this repository do?", repository);
  expect(deltas.filter(({ kind }) => kind === "text").length).toBeGreaterThan(10);
});
