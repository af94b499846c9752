import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { ErrorClass } from "../../domain/model-error.ts";

/** What a scripted model says, turn by turn. */
export interface Script {
  /** Tokens, four characters each; left out, 128,000. What does not fit with room for the answer is refused, as by a provider. */
  readonly contextWindow?: number;
  /** Whether the model is said to take images; it sees nothing of them. */
  readonly takesImages?: boolean;
  /** The same of PDF. */
  readonly takesDocuments?: boolean;
  readonly conversations: readonly ScriptedConversation[];
}

export interface ScriptedConversation {
  /** Plays where the last message of the user contains this. The first that fits is taken. */
  readonly match: string;
  /** The first is played for the user's message, the next after the first answer to it, and so on. */
  readonly turns: readonly ScriptedTurn[];
}

export interface ScriptedTurn {
  readonly thinking?: string;
  readonly text?: string;
  /** `arguments` is an object, or text where it has to be sent exactly as written. */
  readonly toolCalls?: readonly { readonly tool: string; readonly arguments: unknown }[];
  /** How long the model thinks before it begins. */
  readonly delayMilliseconds?: number;
  /** How long it pauses after each piece of its text, of a few words. */
  readonly pieceMilliseconds?: number;
  /** Ends the turn after what was said in place of finishing it. */
  readonly error?: { readonly class: ErrorClass; readonly message?: string };
  /** The provider refuses to answer, in these words. */
  readonly refusal?: string;
  /** The stream breaks off after what was said. */
  readonly cut?: boolean;
}

/**
 * @throws HlvmError `script_not_readable`
 */
export function readScript(path: string): Script {
  try {
    const script = JSON.parse(readFileSync(path, "utf8")) as Partial<Script> | null;
    if (!Array.isArray(script?.conversations)) throw new Error("it has no list of conversations");
    const { contextWindow = 1 } = script;
    if (!Number.isInteger(contextWindow) || contextWindow < 1) throw new Error("its contextWindow is no whole number of tokens");
    for (const conversation of script.conversations as readonly Partial<ScriptedConversation>[])
      if (typeof conversation.match !== "string" || !Array.isArray(conversation.turns))
        throw new Error("each conversation needs a text to match and a list of turns");
    return script as Script;
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "script_not_readable",
      message: `The script ${path} cannot be played: ${messageOf(cause)}.`,
      advice: "Set HLVM_SCRIPT_FILE to a JSON file of the form that the README of the model gateway shows, or unset it.",
      cause,
    });
  }
}
