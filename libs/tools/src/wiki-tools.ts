import { defineTool } from "./define-tool.ts";

const NAME = { type: "string", description: "For example deploy/roll-back.", minLength: 1, maxLength: 128 } as const;
const SCOPE = {
  type: "string",
  description: "Left out, the project's; team is the whole organization's.",
  enum: ["project", "team"],
  optional: true,
} as const;
const READING = { category: "memory", safetyLevel: "L0", sideEffects: "read-only", executor: "memory" } as const;

/** For the pages that a project and the organization keep. */
export const wikiTools = [
  defineTool({
    name: "wiki_read",
    description: "Read a page of the wiki, with its revision, which wiki_write needs.",
    arguments: { name: NAME, scope: SCOPE },
    ...READING,
  }),
  defineTool({
    name: "wiki_search",
    description: "Search the wiki, where people approved how this project and organization do things.",
    arguments: {
      query: {
        type: "string",
        description: "Left out, all pages are listed, with what is wrong in them.",
        minLength: 1,
        maxLength: 1000,
        optional: true,
      },
      limit: { type: "integer", description: "Left out, 5; listed, 100.", minimum: 1, maximum: 50, optional: true },
    },
    ...READING,
  }),
  defineTool({
    name: "wiki_write",
    description:
      "Propose a page of the wiki, whole, in Markdown with front matter (title, summary, tags); a person approves it. Link [[name]] and fact:ID.",
    arguments: {
      name: NAME,
      scope: SCOPE,
      content: { type: "string", description: "The whole page.", minLength: 1, maxLength: 65_536 },
      base: { type: "integer", description: "The revision that wiki_read gave; 0 for a new page.", minimum: 0, maximum: 2_147_483_647 },
      reason: { type: "string", description: "Why, for who approves it.", minLength: 1, maxLength: 1000 },
    },
    category: "memory",
    safetyLevel: "L1",
    sideEffects: "mutating",
    executor: "memory",
  }),
];
