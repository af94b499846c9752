import { instructionsText } from "@hlvm/conversation/instructions-text";
import type { Item } from "@hlvm/conversation/item";
import { memo } from "react";
import { ApprovalCard } from "./approval-card.tsx";
import {
  AssistantText,
  CommentCard,
  ErrorCard,
  InfoLine,
  MemoryLine,
  PlanCard,
  PlainLine,
  ThinkingLine,
  UserCard,
  WorkerLine,
} from "./said-items.tsx";
import { ToolGroup } from "./tool-group.tsx";
import styles from "./items.module.css";

/** One item of a conversation. It is drawn again when it is another one, and not because of its neighbours. */
export const ItemView = memo(function ItemView({ item }: { readonly item: Item }) {
  return <div className={styles.item}>{bodyOf(item)}</div>;
});

function bodyOf(item: Item) {
  switch (item.kind) {
    case "user":
      return <UserCard item={item} />;
    case "assistant":
      return <AssistantText item={item} />;
    case "thinking":
      return <ThinkingLine item={item} />;
    case "tools":
      return <ToolGroup item={item} />;
    case "approval":
      return <ApprovalCard item={item} />;
    case "plan":
      return <PlanCard item={item} />;
    case "memory":
      return <MemoryLine item={item} />;
    case "comment":
      return <CommentCard item={item} />;
    case "worker":
      return <WorkerLine item={item} />;
    case "instructions":
      return <PlainLine text={instructionsText(item)} />;
    case "error":
      return <ErrorCard item={item} />;
    case "info":
      return <InfoLine item={item} />;
  }
}
