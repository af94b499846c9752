import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

type EventCase = Exclude<Event["payload"]["case"], undefined>;

/** What each event of a session says, for people who read its lines. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventCase, string>> = {
  userMessage: "somebody asked; with `author` and `queued_sequence` it was sent while the run went on, and is read now",
  messageQueued: "somebody sent a message to the run; its model reads it before its next turn",
  runStarted: "a run began: its model, workspace and permission settings",
  instructionsLoaded: "instructions of the person or the workspace were read, or left out, and why",
  thinking: "the model was asked; a turn begins",
  reasoningUpdate: "what the model thinks, where it shows that",
  messageDelta: "a piece of the answer; in NDJSON a line of the type `token`",
  assistantMessage: "what the model said in a turn, whole, and the calls that it makes",
  toolSelected: "the model chose a tool",
  permissionCheck: "policy allowed, asks or denied, by which step and rule; again when a person has answered",
  toolStart: "a call runs",
  toolOutput: "a piece of what a call prints",
  toolWaiting: "a call waits for a sandbox, and in which place",
  toolEnd: "what a call came to",
  turnStats: "figures of a turn",
  usageUpdate: "tokens and cost of the run so far",
  memoryActivity: "facts that were recalled or written",
  workerSpawned: "a worker starts, in a session of its own",
  workerPermission: "a worker asks for a permission, or got an answer",
  workerCompleted: "a worker ended, and what it came to",
  todoUpdated: "the list of what is to be done, whole, as it is from here on",
  planCreated: "the model proposed a plan, and waits for its person",
  planAnswered: "the person accepted the plan, as it stands here and in which mode, or rejected it",
  planStep: "a step of the accepted plan is done, or is not any more",
  reminder: "what the platform told the model in the midst of a run",
  compaction: "the context was shortened for the model; the log keeps everything",
  runTakenOver: "the process that held the run ended, and another one goes on with it",
  runStopped: "the run ended, and why; in NDJSON the line of the type `final`, the last",
  sessionForked: "all before this was copied from another session",
  sessionImported: "all behind this, up to the next run, was read from a file",
  conversationUndone: "the conversation goes on as if nothing had happened since an earlier event",
};
