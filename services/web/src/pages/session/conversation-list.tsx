import type { Item } from "@hlvm/conversation/item";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, type ReactNode, type Ref, useImperativeHandle } from "react";
import { ItemView } from "../../items/item-view.tsx";
import parts from "../../parts/parts.module.css";
import styles from "./session.module.css";

const ESTIMATED_HEIGHT = 96;
const ROWS_BEYOND = 6;

export interface ConversationHandle {
  readonly show: (key: string) => void;
}

interface ConversationListProps {
  readonly items: readonly Item[];
  readonly above: ReactNode;
  /** The model is at work, and nothing of it is to be seen yet. */
  readonly isThinking: boolean;
  readonly handle: Ref<ConversationHandle>;
}

/** The items that are on the screen, and a few beside them. It follows its end as long as one looks at that. */
export function ConversationList({ items, above, isThinking, handle }: ConversationListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ESTIMATED_HEIGHT,
    getItemKey: (index) => items[index]!.key,
    overscan: ROWS_BEYOND,
    anchorTo: "end",
    followOnAppend: true,
  });
  // A session is read from its end.
  useLayoutEffect(() => list.scrollToEnd(), [list]);
  useImperativeHandle(handle, () => ({
    show: (key) =>
      list.scrollToIndex(
        items.findIndex((item) => item.key === key),
        { align: "start" },
      ),
  }));
  return (
    <div ref={scroll} className={styles.scroll} tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
      {above}
      <div className={styles.column} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            data-index={index}
            ref={list.measureElement}
            className={styles.placed}
            style={{ transform: `translateY(${start}px)` }}
          >
            <ItemView item={items[index]!} />
          </div>
        ))}
      </div>
      {isThinking ? (
        <p className={`${styles.column} ${styles.thinking} ${parts.pulse}`} role="status">
          Thinking
        </p>
      ) : null}
    </div>
  );
}
