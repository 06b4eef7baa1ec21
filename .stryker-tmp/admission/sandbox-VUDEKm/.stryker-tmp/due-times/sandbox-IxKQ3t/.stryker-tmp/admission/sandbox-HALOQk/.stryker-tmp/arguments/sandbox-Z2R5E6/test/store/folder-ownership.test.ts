import { expect, test } from "vitest";
import { checkPathOwnership } from "../../packages/protocol/src/client/path-ownership.ts";
import { fakeUser } from "../support/fake-user.ts";

const path = "/srv/fleet/herdctl.yaml";
const root = fakeUser({ uid: 0, gid: 0, name: "root" });

test.each([
  ["accepts a file of this user", fakeUser(), 1000, 1000, 0o644, "ok"],
  ["accepts a file of root", fakeUser(), 0, 0, 0o644, "ok"],
  ["refuses a file of another user", fakeUser(), 1001, 1001, 0o644, "belongs"],
  ["refuses a file of an ordinary user for root", root, 1000, 1000, 0o644, "belongs"],
  ["accepts a file of the user who called sudo", { ...root, sudoUid: 1000 }, 1000, 0, 0o644, "ok"],
  [
    "refuses a file of a third user under sudo",
    { ...root, sudoUid: 1000 },
    1001,
    0,
    0o644,
    "belongs",
  ],
  ["refuses a file that all may write", fakeUser(), 1000, 1000, 0o666, "changed"],
  ["accepts umask 002 in a private group", fakeUser(), 1000, 1000, 0o664, "ok"],
  ["refuses a file that a shared group may write", fakeUser(), 1000, 50, 0o664, "changed"],
  ["accepts a file that the group of root may write", fakeUser(), 0, 0, 0o664, "ok"],
])("%s", (_, user, uid, gid, mode, expected) => {
  const problem = checkPathOwnership({ path, isFolder: false, uid, gid, mode }, user);
  expect(problem?.reason ?? "ok").toContain(expected);
});

test("refuses a folder that all may write unless it is sticky", () => {
  const folder = { path: "/srv/fleet", isFolder: true, uid: 0, gid: 0 };
  expect(checkPathOwnership({ ...folder, mode: 0o777 }, fakeUser())?.mode).toBe(0o755);
  expect(checkPathOwnership({ ...folder, mode: 0o1777 }, fakeUser())).toBeUndefined();
});

test("includes the exact command in the hint, and the variable that allows the folder", () => {
  const state = { path: "/srv/my fleet/.herdctl", isFolder: true, uid: 1001, gid: 1, mode: 0o700 };
  const { hint } = checkPathOwnership(state, fakeUser()) ?? {};
  expect(hint).toContain("`sudo chown -R alice '/srv/my fleet/.herdctl'`");
  expect(hint).toContain("HERDCTL_SAFE_DIRECTORY='/srv/my fleet/.herdctl'");
  const file = checkPathOwnership(
    { path, isFolder: false, uid: 1000, gid: 50, mode: 0o664 },
    fakeUser(),
  );
  expect(file?.hint).toContain(`chmod 644 ${path}`);
  expect(file?.hint).toContain("HERDCTL_SAFE_DIRECTORY=/srv/fleet");
});
