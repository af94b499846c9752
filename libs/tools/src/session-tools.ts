import { defineTool } from "./define-tool.ts";

/** Tools that read the session's own log. */
export const sessionTools = [
  defineTool({
    name: "read_result",
    description: "Open a result of an earlier tool call again that was put aside, by the number in its pointer.",
    arguments: {
      result: { type: "integer", description: "The number after `result`.", minimum: 1 },
      offset: { type: "integer", description: "Character to begin at; left out, 0.", minimum: 0, optional: true },
      limit: { type: "integer", description: "Characters; left out, 4000.", minimum: 1, maximum: 20_000, optional: true },
    },
    category: "read",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "orchestrator",
  }),
];
