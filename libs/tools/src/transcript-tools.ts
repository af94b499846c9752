import { defineTool } from "./define-tool.ts";

const NAME = {
  tool: { type: "string", description: "As recall_sessions named it.", minLength: 1, maxLength: 32 },
  session: { type: "string", description: "As recall_sessions named it.", minLength: 1, maxLength: 256 },
} as const;
const SHARED = { category: "memory", safetyLevel: "L0", sideEffects: "read-only", executor: "memory" } as const;

/** For sessions that the user had with other agents. */
export const transcriptTools = [
  defineTool({
    name: "recall_sessions",
    description:
      "Search what was said in the user's earlier sessions with other agents. What it finds is old: check it before you rely on it.",
    arguments: {
      query: { type: "string", description: "Words of the question.", minLength: 1, maxLength: 1000 },
      limit: { type: "integer", description: "Left out, 5.", minimum: 1, maximum: 20, optional: true },
    },
    ...SHARED,
  }),
  defineTool({
    name: "get_session",
    description: "Read on in a session that recall_sessions found.",
    arguments: {
      ...NAME,
      from: { type: "integer", description: "The first turn's number. Left out, 0.", minimum: 0, maximum: 2_147_483_647, optional: true },
      limit: { type: "integer", description: "Turns. Left out, 10.", minimum: 1, maximum: 50, optional: true },
    },
    ...SHARED,
  }),
  defineTool({
    name: "cite_session",
    description: "Say that a turn of an earlier session was of use, and get a link to it for the answer.",
    arguments: { ...NAME, turn: { type: "integer", description: "The turn's number.", minimum: 0, maximum: 2_147_483_647 } },
    ...SHARED,
  }),
];
