import { defineTool } from "./define-tool.ts";

export const memoryTools = [
  defineTool({
    name: "memory_write",
    description:
      "Remember a fact beyond this session: a preference, a decision, how this project works. One fact a call, in a sentence that stands alone.",
    arguments: {
      text: { type: "string", description: "The fact.", minLength: 1, maxLength: 4000 },
      category: {
        type: "string",
        description: "A word to group by, for example build or style.",
        minLength: 1,
        maxLength: 64,
        optional: true,
      },
      type: { type: "string", description: "Left out, project.", enum: ["user", "feedback", "project", "reference"], optional: true },
      scope: {
        type: "string",
        description:
          "Left out, project: only sessions in this workspace see it. team, for the whole organization, holds once a person accepts it.",
        enum: ["personal", "project", "team"],
        optional: true,
      },
      subject: {
        type: "string",
        description: "What the fact is about; with predicate it replaces an older fact on the same.",
        minLength: 1,
        maxLength: 256,
        optional: true,
      },
      predicate: {
        type: "string",
        description: "Which property of the subject, for example default_branch.",
        minLength: 1,
        maxLength: 256,
        optional: true,
      },
      tags: { type: "array", description: "Words to find it by.", items: { type: "string" }, maxItems: 32, optional: true },
    },
    category: "memory",
    safetyLevel: "L1",
    sideEffects: "mutating",
    executor: "memory",
  }),
  defineTool({
    name: "memory_search",
    description: "Search what was remembered in earlier sessions.",
    arguments: {
      query: { type: "string", description: "Words of the question.", minLength: 1, maxLength: 1000 },
      limit: { type: "integer", description: "Left out, 10.", minimum: 1, maximum: 50, optional: true },
    },
    category: "memory",
    safetyLevel: "L0",
    sideEffects: "read-only",
    executor: "memory",
  }),
  defineTool({
    name: "memory_edit",
    description: "Correct or remove a remembered fact, by the id that memory_search gave.",
    arguments: {
      fact_id: { type: "string", description: "The fact's id.", minLength: 36, maxLength: 36 },
      action: { type: "string", description: "What to do.", enum: ["replace", "remove"] },
      text: { type: "string", description: "For replace: the corrected fact.", minLength: 1, maxLength: 4000, optional: true },
    },
    category: "memory",
    safetyLevel: "L1",
    sideEffects: "mutating",
    executor: "memory",
  }),
];
