import { QueryClient } from "@tanstack/react-query";
import { FleetError } from "./fleet-error.ts";

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Responses stay fresh until an event invalidates them. While the fleet is not responding, the last
 * data stays visible; the event stream triggers a refetch when it reconnects.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: dayMs,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (count, error) => count < 2 && isTransient(error),
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
}

function isTransient(error: unknown): boolean {
  return error instanceof FleetError && (error.status === 0 || error.status >= 502);
}
