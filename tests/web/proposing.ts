/** What a run would have the whole organization know. */
export const PROPOSING = {
  match: "what everybody should know",
  turns: [
    {
      toolCalls: ["Releases are cut on Tuesdays", "The fog horn is broken"].map((text) => ({
        tool: "memory_write",
        arguments: { text, scope: "team" },
      })),
    },
    { text: "I proposed both." },
  ],
};
