import type { RouteName } from "@herdctl/server/contract";
import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
} from "@tanstack/react-query";

/** One page of a list. `next_cursor` is the cursor of the following page. */
interface Page {
  next_cursor: string | null;
}

type Cursor = string | undefined;

/** A long list that loads further pages on demand. */
export function usePages<P extends Page>(
  name: RouteName,
  query: object,
  fetchPage: (cursor: Cursor, signal: AbortSignal) => Promise<P>,
) {
  return useInfiniteQuery<P, Error, InfiniteData<P>, QueryKey, Cursor>({
    queryKey: [name, "pages", query],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // Keep showing the old list while a changed filter loads.
    placeholderData: keepPreviousData,
  });
}
