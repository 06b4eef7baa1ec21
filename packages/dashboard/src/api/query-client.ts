import { QueryClient } from "@tanstack/react-query";
import { FleetError } from "./fleet-error.ts";

const aDay = 24 * 60 * 60 * 1000;

/**
 * Answers stay as they are until an event says that they have changed. While the fleet is away the
 * last picture stays; coming back is what asks anew, so that nothing has to be tried in between.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: aDay,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (count, error) => count < 2 && isPassing(error),
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
}

function isPassing(error: unknown): boolean {
  return error instanceof FleetError && (error.status === 0 || error.status >= 502);
}
