/** An answer in which a model wrote its calls as text, and what it meant. */
export interface WrittenAnswer {
  /** Whose format, and what is wrong with it. */
  readonly name: string;
  readonly text: string;
  readonly calls: readonly (readonly [tool: string, given: Readonly<Record<string, unknown>>])[];
}

const read = (path = "src/a.ts") => [["read_file", { path }]] as const;

/** As models write them: the formats that they were trained on, and how small ones get them wrong. */
export const WRITTEN_ANSWERS: readonly WrittenAnswer[] = [
  { name: "Hermes, Qwen", text: '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/a.ts"}}\n</tool_call>', calls: read() },
  {
    name: "Qwen without the opening tag",
    text: 'I will read it.\n{"name": "read_file", "arguments": {"path": "src/a.ts"}}\n</tool_call>',
    calls: read(),
  },
  { name: "Qwen without the closing tag", text: '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/a.ts"}}', calls: read() },
  { name: "Qwen without the last brackets", text: '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/a.ts"', calls: read() },
  {
    name: "Qwen, two at once",
    text: '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>\n<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>',
    calls: [
      ["read_file", { path: "a" }],
      ["list_files", {}],
    ],
  },
  {
    name: "Qwen coder",
    text: "<tool_call>\n<function=write_file>\n<parameter=path>\nsrc/a.ts\n</parameter>\n<parameter=content>\nconst a = { b: 1 };\nif (a < 2) {}\n</parameter>\n</function>\n</tool_call>",
    calls: [["write_file", { path: "src/a.ts", content: "const a = { b: 1 };\nif (a < 2) {}" }]],
  },
  {
    name: "Qwen coder without the opening tag",
    text: "<function=read_file>\n<parameter=path>src/a.ts</parameter>\n</function>\n</tool_call>",
    calls: read(),
  },
  { name: "Llama 3.1, its own way", text: '<function=read_file>{"path": "src/a.ts"}</function>', calls: read() },
  { name: "Llama 3.1, JSON", text: '<|python_tag|>{"name": "read_file", "parameters": {"path": "src/a.ts"}}<|eom_id|>', calls: read() },
  { name: "Llama 3.1, a method", text: '<|python_tag|>read_file.call(path="src/a.ts")', calls: read() },
  { name: "Llama 3.2, bare", text: '{"type": "function", "function": "read_file", "parameters": {"path": "src/a.ts"}}', calls: read() },
  {
    name: "Llama 3.2, several behind each other",
    text: '{"name": "list_files", "parameters": {}}; {"name": "read_file", "parameters": {"path": "a"}}',
    calls: [
      ["list_files", {}],
      ["read_file", { path: "a" }],
    ],
  },
  {
    name: "Llama 4, Python",
    text: '[read_file(path="src/a.ts"), list_files()]',
    calls: [
      ["read_file", { path: "src/a.ts" }],
      ["list_files", {}],
    ],
  },
  { name: "Mistral", text: '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "src/a.ts"}}]</s>', calls: read() },
  { name: "Mistral, newer", text: '[TOOL_CALLS]read_file[ARGS]{"path": "src/a.ts"}', calls: read() },
  { name: "Mistral, newest", text: '[TOOL_CALLS]read_file{"path": "src/a.ts"}', calls: read() },
  {
    name: "DeepSeek V3",
    text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{"path": "src/a.ts"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    calls: read(),
  },
  { name: "DeepSeek V3.1", text: '<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "src/a.ts"}<｜tool▁call▁end｜>', calls: read() },
  { name: "Phi-4, Granite", text: '<|tool_call|>[{"name": "read_file", "arguments": {"path": "src/a.ts"}}]<|/tool_call|>', calls: read() },
  { name: "Phi-4 mini", text: 'functools[{"name": "read_file", "arguments": {"path": "src/a.ts"}}]', calls: read() },
  { name: "Gemma, a fence", text: '```tool_code\nread_file(path="src/a.ts")\n```', calls: read() },
  { name: "Gemma, printed", text: "```tool_code\nprint(default_api.read_file(path='src/a.ts'))\n```", calls: read() },
  {
    name: "Gemma, JSON in a fence after words",
    text: 'I need to look at the file first.\n\n```json\n{"name": "read_file", "parameters": {"path": "src/a.ts"}}\n```',
    calls: read(),
  },
  { name: "FunctionGemma", text: '<start_function_call>call:read_file{path:"src/a.ts"}<end_function_call>', calls: read() },
  { name: "GLM", text: "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>src/a.ts</arg_value>\n</tool_call>", calls: read() },
  {
    name: "Kimi",
    text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "src/a.ts"}<|tool_call_end|>',
    calls: read(),
  },
  {
    name: "gpt-oss",
    text: '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path":"src/a.ts"}<|call|>',
    calls: read(),
  },
  {
    name: "Claude's style",
    text: '<function_calls>\n<invoke name="read_file">\n<parameter name="path">src/a.ts</parameter>\n</invoke>\n</function_calls>',
    calls: read(),
  },
  { name: "an editor's style", text: "<read_file>\n<path>src/a.ts</path>\n</read_file>", calls: read() },
  { name: "ReAct", text: 'Thought: I need to read it.\nAction: read_file\nAction Input: {"path": "src/a.ts"}', calls: read() },
  { name: "Command R", text: 'Action: ```json\n[{"tool_name": "read_file", "parameters": {"path": "src/a.ts"}}]\n```', calls: read() },
  { name: "single quotes, trailing comma", text: "{'name': 'read_file', 'arguments': {'path': 'src/a.ts',},}", calls: read() },
  { name: "keys without quotes", text: '{name: "read_file", arguments: {path: "src/a.ts"}}', calls: read() },
  { name: "arguments as a text", text: '{"name": "read_file", "arguments": "{\\"path\\": \\"src/a.ts\\"}"}', calls: read() },
  { name: "arguments beside the name", text: '{"tool": "read_file", "path": "src/a.ts"}', calls: read() },
  { name: "arguments before the name", text: '{"arguments": {"path": "src/a.ts"}, "name": "read_file"}', calls: read() },
  { name: "a name in camel case", text: '<tool_call>{"name": "readFile", "arguments": {"path": "src/a.ts"}}</tool_call>', calls: read() },
  {
    name: "another tool's name",
    text: '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>',
    calls: [["shell_exec", { command: "ls" }]],
  },
  { name: "another argument's name", text: '{"name": "read_file", "arguments": {"file": "src/a.ts"}}', calls: read() },
  {
    name: "a misspelt argument",
    text: '{"name": "shell_exec", "arguments": {"comand": "ls"}}',
    calls: [["shell_exec", { command: "ls" }]],
  },
  {
    name: "a number as a text",
    text: '{"name": "read_file", "arguments": {"path": "a", "start_line": "10"}}',
    calls: [["read_file", { path: "a", start_line: 10 }]],
  },
  { name: "a list for a text", text: '{"name": "read_file", "arguments": {"path": ["src/a.ts"]}}', calls: read() },
  {
    name: "a command as a list",
    text: '{"name": "shell_exec", "arguments": {"cmd": ["echo", "a b"]}}',
    calls: [["shell_exec", { command: "echo 'a b'" }]],
  },
  {
    name: "nothing where something may be left out",
    text: '{"name": "list_files", "arguments": {"path": null, "depth": 1}}',
    calls: [["list_files", { depth: 1 }]],
  },
  {
    name: "a line end within a text",
    text: '{"name": "write_file", "arguments": {"path": "a", "content": "one\ntwo"}}',
    calls: [["write_file", { path: "a", content: "one\ntwo" }]],
  },
  {
    name: "a result that it made up",
    text: '<tool_call>{"name": "read_file", "arguments": {"path": "src/a.ts"}}</tool_call>\nThe file holds 3 lines.',
    calls: read(),
  },
];

/** Answers that show a call, or speak of one, and make none. */
export const SHOWN_CALLS: readonly string[] = [
  'To read a file, the call would look like this:\n```json\n{"name": "read_file", "arguments": {"path": "src/a.ts"}}\n```',
  'For example:\n{"name": "read_file", "arguments": {"path": "src/a.ts"}}',
  'Use `{"name": "read_file", "arguments": {"path": "a"}}` for that.',
  'The agent sends `<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>` and waits.',
  'The parser takes\n```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```\nand gives it to the tool.',
  '{"name": "read_file", "arguments": {"path": "a"}}\nThis is what line 3 of the log says.',
  '> <tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>',
  '```ts\nconst call = {"name": "read_file", "arguments": {"path": "a"}};\n```',
  '```python\nimport os\nread_file(path="a")\n```',
  "I called read_file(path='a') and it worked.",
  "The function `list_files()` lists files.",
  "```xml\n<example>\n<read_file><path>a</path></read_file>\n</example>\n```",
  '{"name": "Ada", "arguments": {"path": "a"}}',
  '<tool_call>{"name": "delete_everything", "arguments": {}}</tool_call>',
  '{"files": [{"name": "read_file", "size": 3}]} is what it printed.',
];
