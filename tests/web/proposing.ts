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

/** A page of the wiki that a run would have, with something that nobody sees in it. */
export const PROPOSING_PAGE = {
  match: "how do we dock",
  turns: [
    {
      toolCalls: [
        {
          tool: "wiki_write",
          arguments: {
            name: "harbour/docking",
            content: "---\ntitle: Docking\nsummary: How ships come in\n---\nLook at the [[harbour/tides]]\u202E first.\n",
            base: 0,
            reason: "It was asked for",
          },
        },
      ],
    },
    { text: "I proposed a page." },
  ],
};
