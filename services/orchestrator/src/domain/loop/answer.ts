import { create } from "@bufbuild/protobuf";
import {
  FinishSchema,
  UsageSchema,
  type Finish,
  type ServedBy,
  type Thinking,
  type ToolCallPart,
  type Usage,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { ModelEvent } from "./ports.ts";

/** What one model call came to, as far as it came. */
export class Answer {
  text = "";
  thinking: Thinking[] = [];
  toolCalls: ToolCallPart[] = [];
  usage: Usage = create(UsageSchema);
  finish: Finish = create(FinishSchema);
  /** Another model that answered in the place of the one that was asked. */
  servedBy: ServedBy | undefined;
  /** How often its connection was lost, and it went on. */
  resumed = 0;
  /** Whether the model said that it was done; an answer without that was cut. */
  isFinished = false;
  /** Whether anything of it was seen by those who watch. */
  isShown = false;

  add(event: ModelEvent): void {
    switch (event.case) {
      case "textDelta":
        this.text += event.value;
        this.isShown = true;
        return;
      case "thinkingDelta":
        this.isShown = true;
        return;
      case "thinking":
        this.thinking.push(event.value);
        return;
      case "toolCall":
        this.toolCalls.push(event.value);
        return;
      case "servedBy":
        this.servedBy = event.value;
        return;
      case "alive":
        if (event.value.resumed) this.resumed++;
        return;
      case "usage":
        this.usage = event.value;
        return;
      case "finish":
        this.finish = event.value;
        this.isFinished = true;
    }
  }

  get isEmpty(): boolean {
    return this.text === "" && this.toolCalls.length === 0;
  }
}
