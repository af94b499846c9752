import type { Item } from "@hlvm/conversation/item";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type Ref } from "react";
import { ArrowDown } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ItemView } from "../../items/item-view.tsx";
import parts from "../../parts/parts.module.css";
import styles from "./session.module.css";

const ESTIMATED_HEIGHT = 96;
const ROWS_BEYOND = 6;
/** Above the first row, as the style sheet has it. */
const PADDING = 12;
/** Of the line that says that the model thinks. */
const LINE_HEIGHT = 32;
/** Whoever is so near to the end reads there. */
const NEAR_END = 48;
/** With so few rows above, those before them are asked for. */
const ROWS_LEFT = 10;
const UPWARD: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home"]);

export interface ConversationHandle {
  readonly show: (key: string) => void;
  /** To the question before or behind the one that is read. */
  readonly step: (by: 1 | -1) => void;
}

interface ConversationListProps {
  readonly items: readonly Item[];
  readonly hasEarlier: boolean;
  readonly onEarlier: () => void;
  /** The model is at work, and nothing of it is to be seen yet. */
  readonly isThinking: boolean;
  readonly handle: Ref<ConversationHandle>;
}

/** The items that are on the screen, and a few beside them. It follows its end as long as one looks at that, and else stays where it is. */
export function ConversationList({ items, hasEarlier, onEarlier, isThinking, handle }: ConversationListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const [isAway, setIsAway] = useState(false);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ESTIMATED_HEIGHT,
    getItemKey: (index) => items[index]!.key,
    overscan: ROWS_BEYOND,
    scrollMargin: PADDING,
    paddingEnd: isThinking ? LINE_HEIGHT : 0,
    // What is put before the first row, or grows above the screen, moves nothing on it.
    anchorTo: "end",
    scrollEndThreshold: NEAR_END,
  });
  const total = list.getTotalSize();
  const rows = list.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  // Not the virtualizer's own following: that loses the end when a row shrinks just before another one comes.
  useLayoutEffect(() => {
    if (isFollowing.current) scroll.current!.scrollTop = scroll.current!.scrollHeight;
  }, [total]);
  useEffect(() => {
    const element = scroll.current!;
    const observer = new ResizeObserver(() => {
      if (isFollowing.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (hasEarlier && first < ROWS_LEFT) onEarlier();
  }, [hasEarlier, first, items.length, onEarlier]);
  const leaveEnd = (): void => {
    isFollowing.current = false;
  };
  const showIndex = (index: number): void => {
    if (index < 0) return;
    leaveEnd();
    list.scrollToIndex(index, { align: "start" });
  };
  useImperativeHandle(handle, () => ({
    show: (key) => showIndex(items.findIndex((item) => item.key === key)),
    step: (by) => {
      const reading = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + PADDING)?.index ?? 0;
      const isQuestion = (item: Item, index: number): boolean => item.kind === "user" && (index - reading) * by > 0;
      showIndex(by > 0 ? items.findIndex(isQuestion) : items.findLastIndex(isQuestion));
    },
  }));
  const toEnd = (): void => {
    isFollowing.current = true;
    scroll.current!.scrollTop = scroll.current!.scrollHeight;
  };
  return (
    <div className={styles.read}>
      <div
        ref={scroll}
        className={styles.scroll}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
        aria-busy={hasEarlier && first < ROWS_LEFT}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const left = scrollHeight - clientHeight - scrollTop;
          if (left <= NEAR_END) isFollowing.current = true;
          setIsAway(left > clientHeight / 2);
        }}
        onWheel={({ deltaY }) => deltaY < 0 && leaveEnd()}
        onTouchMove={leaveEnd}
        // On the bar that scrolls, which belongs to this element alone.
        onPointerDown={({ target, currentTarget }) => target === currentTarget && leaveEnd()}
        onKeyDown={({ key }: KeyboardEvent) => UPWARD.has(key) && leaveEnd()}
      >
        <div className={styles.column} style={{ height: total }}>
          {rows.map(({ key, index, start }) => (
            <div
              key={key}
              data-index={index}
              ref={list.measureElement}
              className={styles.placed}
              style={{ transform: `translateY(${start - PADDING}px)` }}
            >
              <ItemView item={items[index]!} />
            </div>
          ))}
          {isThinking ? (
            <p className={`${styles.thinking} ${parts.pulse}`} role="status">
              Thinking
            </p>
          ) : null}
        </div>
      </div>
      {isAway ? (
        <Button className={styles.toEnd} data-action="To the end" data-key="." onClick={toEnd}>
          <Icon of={ArrowDown} size={14} /> To the end
        </Button>
      ) : null}
    </div>
  );
}
