import type { Approval, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Attachment, Instruction, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** What every item has. An item never changes: what happens to it makes another one with the same key. */
interface ItemBase {
  /** The same for as long as the item is there, and no other item's. */
  readonly key: string;
  /** Of the event that it began with. */
  readonly sequence: bigint;
  readonly runId: string;
  /** The model call within the run. */
  readonly turn: number;
  readonly at: Date | undefined;
}

/** What a person said. */
export interface UserItem extends ItemBase {
  readonly kind: "user";
  readonly author: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** It was said to a run that goes on, and its model has not read it yet. */
  readonly isPending: boolean;
  /** It was said while a run went on, and not to begin one. */
  readonly isSteering: boolean;
  /** Its author wanted what went on then to stop for it. */
  readonly interrupts: boolean;
}

/** What the model said in one turn; Markdown. */
export interface AssistantItem extends ItemBase {
  readonly kind: "assistant";
  readonly text: string;
  /** More is coming. */
  readonly isOpen: boolean;
  /** It was cut on its way, and the model was asked again. */
  readonly isCut: boolean;
}

export interface ThinkingItem extends ItemBase {
  readonly kind: "thinking";
  readonly text: string;
  readonly isOpen: boolean;
}

export type CallState = "chosen" | "asked" | "waiting" | "running" | "succeeded" | "failed" | "denied";

/** One use of a tool. */
export interface ToolCallView {
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  /** The arguments in short; empty until the call runs. */
  readonly summary: string;
  readonly state: CallState;
  /** What it printed so far, and its result in place of that once it has ended; the end of it where it was cut. */
  readonly output: string;
  readonly omittedCharacters: number;
  /** One line: what came of it, or why it was denied. */
  readonly outcome: string;
  /** The step that denied it, and its rule where one did. */
  readonly deniedBy: string;
  readonly exitCode: number | undefined;
  readonly durationMilliseconds: number | undefined;
  /** Of the whole result. */
  readonly resultBytes: number;
  /** The model has less of the result than there is. */
  readonly isShortened: boolean;
  /** The result is that of a recorded call; nothing ran. */
  readonly isReplayed: boolean;
  /** Among those that wait for a sandbox; 0 where it does not. */
  readonly queuePosition: number;
}

/** Neighbouring calls of one turn; so many that a change of one stays cheap, and those after them in the next item. */
export interface ToolsItem extends ItemBase {
  readonly kind: "tools";
  readonly calls: readonly ToolCallView[];
}

/** A person is asked, or was. */
export interface ApprovalItem extends ItemBase {
  readonly kind: "approval";
  readonly tool: string;
  readonly approval: Approval;
  /** Unanswered: its run ended before. */
  readonly state: "pending" | "approved" | "denied" | "unanswered";
  /** The rule that answered, who did, or why nobody could. */
  readonly outcome: string;
  /** Set: a worker asks, and this is its session. */
  readonly workerSessionId: string;
  /** The types of the agents from the first worker to the one that asks. */
  readonly workerAgents: readonly string[];
}

export interface PlanStepView {
  readonly text: string;
  readonly isCompleted: boolean;
}

export interface PlanItem extends ItemBase {
  readonly kind: "plan";
  readonly callId: string;
  readonly text: string;
  readonly steps: readonly PlanStepView[];
  readonly state: "proposed" | "accepted" | "rejected";
  /** Why it was rejected. */
  readonly rejection: string;
  /** In which the run goes on, where it was accepted. */
  readonly mode: PermissionMode;
}

export interface MemoryItem extends ItemBase {
  readonly kind: "memory";
  readonly recalled: readonly string[];
  readonly written: readonly string[];
  /** So many facts are another person's. */
  readonly withheld: number;
  readonly notice: string;
}

/** A person's note to people, which no model reads. */
export interface CommentItem extends ItemBase {
  readonly kind: "comment";
  readonly author: string;
  readonly text: string;
}

/** Another agent, at work in a session of its own. */
export interface WorkerItem extends ItemBase {
  readonly kind: "worker";
  readonly childSessionId: string;
  readonly agentType: string;
  readonly task: string;
  readonly state: "running" | "succeeded" | "failed";
  readonly stopReason: StopReason;
  readonly turns: number;
  readonly durationMilliseconds: number;
  readonly tokens: bigint;
  readonly filesTouched: readonly string[];
}

/** Which files instruct the agent, and which do not, and why. */
export interface InstructionsItem extends ItemBase {
  readonly kind: "instructions";
  readonly files: readonly Instruction[];
  readonly workspace: string;
  readonly notice: string;
}

/** Something went wrong, and what to do. */
export interface ErrorItem extends ItemBase {
  readonly kind: "error";
  readonly reason: StopReason;
  readonly message: string;
  readonly advice: string;
}

export type InfoTopic =
  | "compaction"
  | "fallback"
  | "resumption"
  | "queue"
  | "takeover"
  | "handover"
  | "fork"
  | "import"
  | "undo"
  | "interruption"
  | "replay"
  | "unknown";

/** Anything else that a person may want to know; of events that only a later version knows, that there was one. */
export interface InfoItem extends ItemBase {
  readonly kind: "info";
  readonly topic: InfoTopic;
  readonly text: string;
  /** More, to open. */
  readonly detail: string;
  /** Another session that it is about. */
  readonly otherSessionId: string;
}

export type Item =
  | UserItem
  | AssistantItem
  | ThinkingItem
  | ToolsItem
  | ApprovalItem
  | PlanItem
  | MemoryItem
  | CommentItem
  | WorkerItem
  | InstructionsItem
  | ErrorItem
  | InfoItem;

/** What every item has that is pushed. */
export type Base = ItemBase;
