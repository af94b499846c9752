import { defineTool } from "./define-tool.ts";

/** Text of one entry of a list. */
const ENTRY_LENGTH = 500;

/** Tools of the orchestrator: they read and write the session's own log, or ask its person. */
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
  defineTool({
    name: "todo",
    description:
      "Write down the steps of a task with several, and keep them current: the whole list each time, which replaces the one before. The user sees it.",
    arguments: {
      items: {
        type: "array",
        description: "All steps, in order; at most one is in_progress.",
        items: {
          type: "object",
          properties: {
            text: { type: "string", description: "What is to be done, in a few words.", minLength: 1, maxLength: ENTRY_LENGTH },
            status: { type: "string", description: "How far it is.", enum: ["pending", "in_progress", "completed"] },
          },
          required: ["text", "status"],
          additionalProperties: false,
        },
        maxItems: 50,
      },
    },
    category: "meta",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "orchestrator",
  }),
  defineTool({
    name: "propose_plan",
    description:
      "In plan mode: show the user your plan for the task and wait until they accept or reject it. The result is the plan as they accepted it, maybe changed, or why they did not. Only for work that changes something, and only after you have looked.",
    arguments: {
      plan: {
        type: "string",
        description: "Markdown; the steps as a numbered list, each naming the files that it changes.",
        minLength: 1,
        maxLength: 60_000,
      },
    },
    category: "meta",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "orchestrator",
    asksPerson: "plan",
  }),
  defineTool({
    name: "request_clarification",
    description:
      "Ask the user a question and wait for the answer. Only where the task cannot be done without it and you cannot find it out yourself; never to ask whether you may do something.",
    arguments: {
      question: { type: "string", description: "One question, with what the user has to know to answer.", minLength: 1, maxLength: 4_000 },
      choices: {
        type: "array",
        description: "Likely answers; the user may give another one.",
        items: { type: "string", maxLength: ENTRY_LENGTH },
        maxItems: 9,
        optional: true,
      },
    },
    category: "meta",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "orchestrator",
    asksPerson: "question",
  }),
];
