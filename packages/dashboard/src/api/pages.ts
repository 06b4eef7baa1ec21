import type { RouteName } from "@herdctl/server/contract";
import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
} from "@tanstack/react-query";

/** What a call answers a page at a time: `next` is the `cursor` of the page after. */
interface Page {
  next: string | number | null;
}

type Cursor = string | undefined;

/** A long list of which more is asked for as it is read. */
export function usePages<P extends Page>(
  name: RouteName,
  query: object,
  askFor: (cursor: Cursor, signal: AbortSignal) => Promise<P>,
) {
  return useInfiniteQuery<P, Error, InfiniteData<P>, QueryKey, Cursor>({
    queryKey: [name, "pages", query],
    queryFn: ({ pageParam, signal }) => askFor(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => (next === null ? undefined : String(next)),
    // Another filter is no reason for the page to be empty in between.
    placeholderData: keepPreviousData,
  });
}
