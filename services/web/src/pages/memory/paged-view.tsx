import type { ReactNode } from "react";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { MemoryList, type MemoryRow } from "./memory-list.tsx";
import styles from "./memory.module.css";
import type { Pages } from "./use-pages.ts";

interface PagedViewProps<Item> {
  readonly label: string;
  readonly pages: Pages<Item>;
  readonly row: (item: Item) => MemoryRow;
  /** In place of the list where there is nothing. */
  readonly empty: ReactNode;
}

/** A list that is read page by page, whatever state it is in. */
export function PagedView<Item>({ label, pages, row, empty }: PagedViewProps<Item>) {
  const { items, trouble, hasOlder, isLoading, older, again } = pages;
  return (
    <div className={styles.view} aria-busy={isLoading}>
      {trouble === undefined ? null : (
        <div className={styles.note}>
          <TroubleNote trouble={trouble} onAgain={again} />
        </div>
      )}
      {items === undefined ? (
        trouble === undefined ? (
          <Skeleton rows={8} />
        ) : null
      ) : items.length === 0 ? (
        empty
      ) : (
        <MemoryList label={label} rows={items.map(row)} hasOlder={hasOlder} onOlder={older} />
      )}
    </div>
  );
}
