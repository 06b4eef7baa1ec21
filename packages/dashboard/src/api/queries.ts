import type { RouteName } from "@herdctl/server/contract";
import { type QueryKey, queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { type About, type Asked, ask } from "./ask.ts";

/** One way to remember answers: by the name of the call and what it is about. */
function keyOf<N extends RouteName>(name: N, about?: About<N>): QueryKey {
  return about === undefined ? [name] : [name, about];
}

export function answerOf<N extends RouteName>(name: N, about: About<N> = {}) {
  return queryOptions({
    queryKey: keyOf(name, about),
    queryFn: ({ signal }) => ask(name, { ...about, signal }),
  });
}

/** The answer to a call, kept up to date by what the fleet tells. */
export function useAnswer<N extends RouteName>(
  name: N,
  about: About<N> = {},
  options: { enabled?: boolean; refetchInterval?: number | false } = {},
) {
  return useQuery({ ...answerOf(name, about), ...options });
}

/** A call that changes something. What it changed comes back as an event. */
export function useTell<N extends RouteName>(name: N) {
  return useMutation({ mutationFn: (asked: Omit<Asked<N>, "signal">) => ask(name, asked) });
}
