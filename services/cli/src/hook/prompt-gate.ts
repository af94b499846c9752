/** Why memory is not asked about a prompt, or that it is. */
export type PromptGate = "empty" | "command" | "harness" | "generative" | "asked";

/** `/help`, `/review:all fix it`, but not `/etc/hosts is wrong`. */
const COMMAND = /^\/[\w:-]+(?:\s|$)/;
/** What tools put in a person's place. */
const HARNESS =
  /^(?:<(?:local-command|command-|task-notification|system-reminder|session-start-hook|tick|goal|ide_)|\[Request interrupted by user)/;
const GENERATIVE =
  /^(?:please |can you |could you )?(?:(?:write|draft|compose|create|generate|invent|design|suggest|imagine|tell|give|make)(?: me| us)? (?:an?|some|two|three|four|five|ten|\d+) |brainstorm\b|come up with\b|ideas for\b|name (?:an?|some|five|ten|\d+) )/i;
/** Something that is there already, or was said before: a path, a name in code, or a word that points at it. */
const POINTS_BACK =
  /[`@#/\\]|\w[._]\w|\b[a-z]+[A-Z]\w*|\b(?:the|this|that|these|those|our|ours|we|us|my|mine|i|it|its|they|again|before|last|previous|earlier|same|usual|usually|always|never|existing|current|remember|decided|agreed|convention|conventions|project|repo|repository|codebase)\b/;

/**
 * Leaves out what memory has surely nothing to say on. Where there is doubt it is asked: what it finds has a gate of its own, and a
 * prompt that is left out wrongly is lost for good.
 */
export function promptGate(prompt: string): PromptGate {
  const text = prompt.trim();
  if (!/[\p{L}\p{N}]/u.test(text)) return "empty";
  if (COMMAND.test(text)) return "command";
  if (HARNESS.test(text)) return "harness";
  const asked = text.replace(GENERATIVE, "");
  return asked !== text && !POINTS_BACK.test(asked.replace(/\bme\b/g, "")) ? "generative" : "asked";
}
