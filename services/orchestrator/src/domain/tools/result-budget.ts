import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

/** What a run's tool results may take in all before they are cut for the model. */
export class ResultBudget {
  #remaining: number;

  /** @param length UTF-16 units */
  constructor(length: number) {
    this.#remaining = length;
  }

  /** The result with no more content than is left. */
  limit(result: ToolResult): ToolResult {
    const { content } = result;
    if (content.length <= this.#remaining) {
      this.#remaining -= content.length;
      return result;
    }
    const kept = wholeCharacters(content, this.#remaining);
    this.#remaining = 0;
    const note = `[Cut after ${kept.length} of ${content.length} characters: the results of this run have reached their limit. Finish with what you know.]`;
    return { ...result, content: kept === "" ? note : `${kept}\n${note}`, truncated: true };
  }
}

/** The beginning of a text, without half a surrogate pair at its end. */
function wholeCharacters(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
