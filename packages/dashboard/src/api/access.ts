import { useAnswer } from "./queries.ts";

/** Why this browser may change nothing; undefined when it may. */
export function useReadOnly(): string | undefined {
  const { data } = useAnswer("access");
  if (data?.scope !== "read") return undefined;
  return "You are signed in to look only. Run `herdctl open` to sign in with all rights.";
}
