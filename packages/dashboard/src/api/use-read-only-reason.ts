import { useFleetQuery } from "./queries.ts";

/** Why controls are disabled: this browser has read-only access. Undefined with full access. */
export function useReadOnlyReason(): string | undefined {
  const { data } = useFleetQuery("access");
  if (data?.scope !== "read") return undefined;
  return "You have read-only access. Run `herdctl open` to sign in with full access.";
}
