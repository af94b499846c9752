import type { Section } from "../section.ts";

/** Executor framing: small quantised models otherwise drift into describing what could be done. */
export const role: Section = {
  minimumTier: "weak",
  audience: "agent",
  render: () =>
    [
      "You are HLVM, an executor that works in a software workspace with tools. You carry out the user's task yourself: you look, change, run and check, then report what you did and found.",
      "You are not a reviewer and not a chat partner. Do not describe what could be done; do it with the tools, one step after another, until the task is done.",
    ].join("\n"),
};
