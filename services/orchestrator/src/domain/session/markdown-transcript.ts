import { timestampDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema, type Attachment, type Event, type ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "./session.ts";

const LINE_CHARACTERS = 200;
/** What a terminal or a page acts on, or hides: escapes, marks that turn the direction, characters without width. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const MARKUP = /[\\`*_{}[\]()<>#+\-.!|~&:@]/g;

/** The head of a session's transcript for people. */
export function transcriptHead(session: Session): string {
  const from = session.createdAt.toISOString();
  const facts = [`Session ${session.sessionId}`, session.owner, session.workspace, session.model, from];
  return `# ${inline(session.title)}\n\n${facts.map((fact) => `- ${inline(fact)}\n`).join("")}`;
}

/**
 * An event as a piece of a transcript in Markdown; empty where people need none. What people, models and tools said stands in
 * fenced blocks, whose fences are longer than any in it, so that nothing in it is a heading, a link or an image of the page.
 */
export function transcriptPiece({ payload, at, principal }: Event): string {
  const when = at === undefined ? "" : ` · ${timestampDate(at).toISOString()}`;
  switch (payload.case) {
    case "userMessage": {
      const { text, attachments } = payload.value;
      const attached = attachments.map(attachedPiece);
      return `\n## ${inline(principal)}${when}\n\n${fenced(text)}${attached.join("")}`;
    }
    case "assistantMessage":
      return payload.value.text === "" ? "" : `\n### Answer${when}\n\n${fenced(payload.value.text, "markdown")}`;
    case "toolSelected":
      return `\n**Tool** ${inline(payload.value.tool)}\n\n${fenced(payload.value.argumentsJson, "json")}`;
    case "toolEnd":
      return toolEnd(payload.value);
    case "runStopped": {
      const { reason, message } = payload.value;
      if (reason === StopReason.COMPLETED && message === "") return "";
      return `\n*Stopped: ${inline(enumWord(StopReasonSchema, reason))}. ${inline(message)}*\n`;
    }
    case "comment":
      return `\n*Comment by ${inline(principal)}${when}:*\n\n${fenced(payload.value.text)}`;
    case "conversationUndone":
      return `\n*What came after turn ${payload.value.toTurn} was undone${when}.*\n`;
    case "sessionForked":
      return `\n*Forked from session ${inline(payload.value.parentSessionId)} at event ${payload.value.parentSequence}.*\n`;
    case "sessionImported":
      return `\n*What follows was imported from a file, and is what that file says.*\n`;
    default:
      return "";
  }
}

function attachedPiece({ path, text, mediaType, size, width, height }: Attachment): string {
  if (mediaType === "") return `\nAttached: ${inline(path)}\n\n${fenced(text)}`;
  const pixels = width > 0 ? `, ${width}x${height}` : "";
  return `\nAttached: ${inline(path)} (${inline(mediaType)}${pixels}, ${size} bytes)\n`;
}

function toolEnd({ tool, result }: ToolEnd): string {
  const state = result?.success === true ? "Result" : "Failed";
  return `\n**${state}** of ${inline(tool)}: ${inline(result?.summary ?? "")}\n\n${fenced(result?.content ?? "")}`;
}

/** A block that shows a text as it is, with what hides in it made visible. */
function fenced(text: string, language = "text"): string {
  const shown = visible(text).replace(/\r\n?/g, "\n");
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** A text within a line: cut, and nothing in it is markup. */
function inline(text: string): string {
  const line = Array.from(visible(text.replace(/\s+/g, " ").trim()));
  const cut = line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS - 1).join("")}…` : line.join("");
  return cut.replace(MARKUP, "\\$&");
}

function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === "\r" ? character : `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}
