import type { CurrentUser } from "../../packages/protocol/src/client/path-ownership.ts";

/** By default an ordinary user in a private group. */
export function fakeUser(facts: Partial<CurrentUser> = {}): CurrentUser {
  return {
    uid: 1000,
    gid: 1000,
    name: "alice",
    safeDirectories: [],
    isPrivateGroup: (gid) => gid === 1000,
    ...facts,
  };
}
