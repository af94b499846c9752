import { useState } from "react";
import { useAction, useCall } from "../../api/use-call.ts";
import type { Trouble } from "../../api/clients.ts";

export interface ReadPage<Item> {
  readonly items: readonly Item[];
  /** Empty on the last page. */
  readonly next: string;
}

export interface Pages<Item> {
  /** Undefined until the first page has come. */
  readonly items: readonly Item[] | undefined;
  readonly hasOlder: boolean;
  readonly isLoading: boolean;
  readonly trouble: Trouble | undefined;
  /** Once, however often it is called before the page has come. */
  readonly older: () => void;
  readonly again: () => void;
}

/** The answer to a question page by page, from the first one again when its key changes. */
export function usePages<Item>(key: string, read: (token: string, signal?: AbortSignal) => Promise<ReadPage<Item>>): Pages<Item> {
  const first = useCall(key, async (signal) => ({ key, ...(await read("", signal)) }));
  // Those belong behind the first page that they were asked behind.
  const [older, setOlder] = useState<ReadPage<Item> & { readonly behind: object }>();
  const current = older !== undefined && older.behind === first.value ? older : undefined;
  const next = current?.next ?? first.value?.next ?? "";
  const more = useAction(async () => {
    const behind = first.value!;
    const page = await read(next);
    setOlder({ items: [...(current?.items ?? []), ...page.items], next: page.next, behind });
  });
  const { isBusy, run } = more;
  const canMore = !isBusy && next !== "" && more.trouble === undefined;
  return {
    items: first.value === undefined ? undefined : [...first.value.items, ...(current?.items ?? [])],
    hasOlder: next !== "",
    isLoading: first.isLoading,
    trouble: first.trouble ?? more.trouble,
    older: () => {
      if (canMore) run();
    },
    again: first.trouble === undefined && more.trouble !== undefined ? run : first.again,
  };
}
