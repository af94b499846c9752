import { defineTool } from "./define-tool.ts";

/** Starts a worker. By itself it changes nothing: every call that the worker makes is decided on like any other. */
export const spawnWorker = defineTool({
  name: "spawn_worker",
  description:
    "Give a part of the work to a worker: an agent of its own, in the same workspace, that knows only what you write here and answers when it is done. Several calls in one turn run at the same time.",
  arguments: {
    profile: { type: "string", description: "Its profile, by name.", minLength: 1, maxLength: 64 },
    task: {
      type: "string",
      description: "All that it needs to know: what to do, where, and what to answer.",
      minLength: 1,
      maxLength: 32_768,
    },
    turns: {
      type: "integer",
      description: "Model calls that it may use up, at most its share of yours.",
      minimum: 1,
      maximum: 1000,
      optional: true,
    },
    seconds: {
      type: "integer",
      description: "How long it may take, at most what you have left.",
      minimum: 1,
      maximum: 86_400,
      optional: true,
    },
  },
  category: "read",
  safetyLevel: "L0",
  sideEffects: "read-only",
  executor: "orchestrator",
});

export const workerTools = [spawnWorker];
