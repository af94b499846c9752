import { callTarget } from "@hlvm/conversation/call-target";
import { instructionsText } from "@hlvm/conversation/instructions-text";
import type { ApprovalItem, CallState, Item, MemoryItem, PlanItem, ToolCallView, UserItem, WorkerItem } from "@hlvm/conversation/item";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReasonSchema, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { fenced, inline } from "./markdown-text.ts";

/**
 * An item as a piece of a transcript in Markdown. What people, models and tools said stands in fenced blocks, whose fences are
 * longer than any in it, so that nothing in it is a heading, a link or an image of the page.
 */
export function markdownItem(item: Item): string {
  const when = item.at === undefined ? "" : ` · ${item.at.toISOString()}`;
  switch (item.kind) {
    case "user":
      return userPiece(item, when);
    case "assistant":
      return `\n### Answer${when}\n\n${fenced(item.text, "markdown")}${item.isCut ? line("This was cut on its way, and the model was asked again.") : ""}`;
    case "thinking":
      return `\n*Thought:*\n\n${fenced(item.text)}`;
    case "tools":
      return item.calls.map(callPiece).join("");
    case "approval":
      return approvalPiece(item);
    case "plan":
      return planPiece(item);
    case "memory":
      return memoryPiece(item);
    case "comment":
      return `\n*Comment by ${inline(item.author)}${when}:*\n\n${fenced(item.text)}`;
    case "worker":
      return workerBegun(item);
    case "instructions":
      return line(instructionsText(item));
    case "error":
      return line(`Stopped: ${enumWord(StopReasonSchema, item.reason)}. ${item.message}`) + (item.advice === "" ? "" : line(item.advice));
    case "info": {
      const about = item.otherSessionId === "" ? "" : ` (session ${item.otherSessionId})`;
      return line(`${item.text}${about}`) + (item.detail === "" ? "" : `\n${fenced(item.detail)}`);
    }
  }
}

/** What became of an item after it was written: steps of a plan, the end of a worker; empty where that is nothing. */
export function markdownChange(item: Item, before: Item): string {
  if (item.kind === "plan" && before.kind === "plan" && before.state === "accepted")
    return item.steps
      .map(({ text, isCompleted }, index) =>
        isCompleted === before.steps[index]?.isCompleted ? "" : line(`Step ${index + 1} ${isCompleted ? "done" : "open again"}: ${text}`),
      )
      .join("");
  if (item.kind === "worker" && before.kind === "worker" && before.state === "running") return workerEnded(item);
  return "";
}

function userPiece({ author, text, attachments, isSteering, isPending }: UserItem, when: string): string {
  const how = isPending ? " · not read yet" : isSteering ? " · read while the run went on" : "";
  return `\n## ${inline(author)}${when}${how}\n\n${fenced(text)}${attachments.map(attachedPiece).join("")}`;
}

function attachedPiece({ path, text, mediaType, size, width, height }: Attachment): string {
  if (mediaType === "") return `\nAttached: ${inline(path)}\n\n${fenced(text)}`;
  const pixels = width > 0 ? `, ${width}x${height}` : "";
  return `\nAttached: ${inline(path)} (${inline(mediaType)}${pixels}, ${size} bytes)\n`;
}

const OUTCOMES: Readonly<Partial<Record<CallState, string>>> = { succeeded: "Result", failed: "Failed", denied: "Denied" };

function callPiece(call: ToolCallView): string {
  const { tool, state, argumentsJson, outcome, output, omittedCharacters, exitCode, deniedBy } = call;
  const named = `\n**Tool** ${inline(`${tool} ${callTarget(call)}`)}\n\n${fenced(argumentsJson, "json")}`;
  const word = OUTCOMES[state];
  if (word === undefined) return `${named}${line("There is no result of it.")}`;
  const exit = exitCode === undefined || exitCode === 0 ? "" : `, exit ${exitCode}`;
  const by = state === "denied" && deniedBy !== "" ? ` (${inline(deniedBy)})` : "";
  const replayed = call.isReplayed ? ", as recorded" : "";
  const cut = omittedCharacters === 0 ? "" : line(`The first ${omittedCharacters} characters are left out.`);
  const shown = state === "denied" && output === "" ? "" : `\n${fenced(output)}`;
  return `${named}\n**${word}** of ${inline(tool)}${exit}${by}${replayed}: ${inline(outcome)}\n${cut}${shown}`;
}

function approvalPiece({ state, outcome, tool, approval, workerAgents }: ApprovalItem): string {
  const who = workerAgents.length === 0 ? "" : `the worker ${workerAgents.join(" › ")}: `;
  const what = approval.kind === ApprovalKind.QUESTION ? "the model's question" : tool;
  return line(`Asked for ${who}${what}: ${state === "pending" ? "not answered yet" : `${state}, ${outcome.replace(/^approval: /, "")}`}`);
}

function planPiece({ state, text, rejection, mode }: PlanItem): string {
  const word = state === "accepted" ? `accepted, to go on in the mode ${permissionModeWord(mode)}` : state;
  return `\n**Plan**, ${inline(word)}\n\n${fenced(text)}${rejection === "" ? "" : `\nRejected:\n\n${fenced(rejection)}`}`;
}

function memoryPiece({ recalled, written, withheld, notice }: MemoryItem): string {
  const facts = [...recalled.map((fact) => `recalled: ${fact}`), ...written.map((fact) => `written: ${fact}`)];
  if (withheld > 0) facts.push(`withheld, since they are another person's: ${withheld}`);
  if (notice !== "") facts.push(notice);
  return `\n*Memory:*\n\n${facts.map((fact) => `- ${inline(fact)}\n`).join("")}`;
}

function workerBegun(item: WorkerItem): string {
  const { agentType, childSessionId, task } = item;
  const begun = `${line(`Worker started: ${agentType} (session ${childSessionId})`)}\n${fenced(task)}`;
  return task === "" && item.state !== "running" ? workerEnded(item) : begun;
}

function workerEnded({ agentType, state, turns, filesTouched }: WorkerItem): string {
  const files = filesTouched.map((path) => `- ${inline(path)}\n`).join("");
  return `${line(`Worker ${state === "succeeded" ? "done" : "failed"}: ${agentType}, ${turns} ${turns === 1 ? "turn" : "turns"}`)}${files === "" ? "" : `\n${files}`}`;
}

function line(text: string): string {
  return `\n*${inline(text)}*\n`;
}
