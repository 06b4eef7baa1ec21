import type { ReactNode } from "react";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";

interface PagedListProps<T> {
  label: string;
  pages: {
    error: Error | null;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage(): unknown;
    refetch(): unknown;
  };
  /** Undefined until the first page has loaded. */
  items: T[] | undefined;
  keyOf(item: T): string;
  lineHeight: number;
  /** The titles of the columns. */
  header: ReactNode;
  empty: ReactNode;
  children(item: T): ReactNode;
}

export function PagedList<T>(props: PagedListProps<T>) {
  const { label, pages, items, keyOf, lineHeight, header, empty, children } = props;
  if (pages.error && !items) {
    return <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />;
  }
  if (!items) return <Loading lines={10} />;
  if (items.length === 0) return empty;
  const fetchMore = () => {
    if (!pages.isFetchingNextPage) pages.fetchNextPage();
  };
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div className="sticky top-0 z-10 rounded-t-lg border-line bg-surface md:border-b">
        {header}
      </div>
      <VirtualList
        label={label}
        items={items}
        keyOf={keyOf}
        lineHeightPx={lineHeight}
        hasMore={pages.hasNextPage}
        onLoadMore={fetchMore}
      >
        {children}
      </VirtualList>
      {pages.isFetchingNextPage && <Loading lines={2} />}
    </div>
  );
}
