import type { RouteName } from "@herdctl/server/contract";
import { type QueryKey, queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { type CallOptions, callFleet, type RequestKey } from "./call-fleet.ts";

/** The cache key of a call. Without parameters it matches every call of the route. */
function queryKeyOf<N extends RouteName>(name: N, requestKey?: RequestKey<N>): QueryKey {
  return requestKey === undefined ? [name] : [name, requestKey];
}

export function routeQuery<N extends RouteName>(name: N, requestKey: RequestKey<N> = {}) {
  return queryOptions({
    queryKey: queryKeyOf(name, requestKey),
    queryFn: ({ signal }) => callFleet(name, { ...requestKey, signal }),
  });
}

/** Fetches a route. Fleet events keep the response up to date. */
export function useFleetQuery<N extends RouteName>(
  name: N,
  requestKey: RequestKey<N> = {},
  options: { enabled?: boolean; refetchInterval?: number | false } = {},
) {
  return useQuery({ ...routeQuery(name, requestKey), ...options });
}

/** A call that changes something. The change arrives as a fleet event. */
export function useFleetMutation<N extends RouteName>(name: N) {
  return useMutation({
    mutationFn: (options: Omit<CallOptions<N>, "signal">) => callFleet(name, options),
  });
}
