import { expect, test } from "vitest";
import { judgeOwnership } from "../../packages/core/src/state/ownership.ts";
import { userWith } from "../support/current-user.ts";

const path = "/srv/fleet/herdctl.yaml";
const root = userWith({ uid: 0, gid: 0, name: "root" });

test.each([
  ["a file of this user", userWith(), 1000, 1000, 0o644, "ok"],
  ["a file of root", userWith(), 0, 0, 0o644, "ok"],
  ["a file of another user", userWith(), 1001, 1001, 0o644, "belongs"],
  ["a file of an ordinary user, for root", root, 1000, 1000, 0o644, "belongs"],
  ["a file of the user who called sudo", { ...root, sudoUid: 1000 }, 1000, 0, 0o644, "ok"],
  ["a file of a third user under sudo", { ...root, sudoUid: 1000 }, 1001, 0, 0o644, "belongs"],
  ["a file that all may write", userWith(), 1000, 1000, 0o666, "changed"],
  ["umask 002 in a private group", userWith(), 1000, 1000, 0o664, "ok"],
  ["a file that a shared group may write", userWith(), 1000, 50, 0o664, "changed"],
  ["a file that the group of root may write", userWith(), 0, 0, 0o664, "ok"],
])("%s", (_, user, uid, gid, mode, expected) => {
  const problem = judgeOwnership({ path, isFolder: false, uid, gid, mode }, user);
  expect(problem?.reason ?? "ok").toContain(expected);
});

test("a folder that all may write is refused unless it is sticky", () => {
  const folder = { path: "/srv/fleet", isFolder: true, uid: 0, gid: 0 };
  expect(judgeOwnership({ ...folder, mode: 0o777 }, userWith())?.mode).toBe(0o755);
  expect(judgeOwnership({ ...folder, mode: 0o1777 }, userWith())).toBeUndefined();
});

test("the hint has the exact command, and the variable that allows the folder", () => {
  const state = { path: "/srv/my fleet/.herdctl", isFolder: true, uid: 1001, gid: 1, mode: 0o700 };
  const { hint } = judgeOwnership(state, userWith()) ?? {};
  expect(hint).toContain("`sudo chown -R alice '/srv/my fleet/.herdctl'`");
  expect(hint).toContain("HERDCTL_SAFE_DIRECTORY='/srv/my fleet/.herdctl'");
  const file = judgeOwnership(
    { path, isFolder: false, uid: 1000, gid: 50, mode: 0o664 },
    userWith(),
  );
  expect(file?.hint).toContain(`chmod 644 ${path}`);
  expect(file?.hint).toContain("HERDCTL_SAFE_DIRECTORY=/srv/fleet");
});
