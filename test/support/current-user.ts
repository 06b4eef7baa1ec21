import type { CurrentUser } from "../../packages/core/src/state/ownership.ts";

/** An ordinary user in a group of their own, or as said. */
export function userWith(facts: Partial<CurrentUser> = {}): CurrentUser {
  return {
    uid: 1000,
    gid: 1000,
    name: "alice",
    safeDirectories: [],
    isPrivateGroup: (gid) => gid === 1000,
    ...facts,
  };
}
