import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { labels, labelsOf, madeFor } from "../../packages/core/src/runner/container/labels.ts";
import { checkAccess, containerUser } from "../../packages/core/src/runner/container/user.ts";
import {
  entryAt,
  kindOf,
  workspaceFacts,
} from "../../packages/core/src/runner/container/workspace-facts.ts";
import { folderWith } from "../support/folder.ts";

describe("for which run a container was made", () => {
  const identity = { fleet: "f", agent: "a", workspace: "/w" };

  test("is said by its labels", () => {
    const who = { jobId: "job-1", attempt: 2 };
    expect(madeFor({ name: "any", labels: labelsOf({ ...identity, who }) })).toEqual(who);
  });

  test("is said by its name where it was a spare, and a spare of nobody has none", () => {
    const own = labelsOf({ ...identity, who: { spare: "s1" } });
    expect(own).toMatchObject({ [labels.spare]: "s1" });
    expect(madeFor({ name: "herdctl-job-1-2", labels: own })).toEqual({
      jobId: "job-1",
      attempt: 2,
    });
    expect(madeFor({ name: "herdctl-spare-s1", labels: own })).toBeUndefined();
  });

  test("is nobody's where neither is there", () => {
    expect(madeFor({ name: "other", labels: {} })).toEqual({ jobId: "", attempt: 0 });
  });
});

describe("who an agent is in its container", () => {
  function ownedBy(uid: number, gid: number, mode: number): string {
    const folder = folderWith({});
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, mode);
    chownSync(folder, uid, gid);
    return folder;
  }
  const needed = (path: string, write: boolean) => ({
    ...{ path, write },
    what: "the working directory",
    remedy: "or use another",
  });

  test("as configured, else the owner of its folder, and never root", () => {
    expect(containerUser({ user: { uid: 5, gid: 6 } }, "/")).toEqual({ uid: 5, gid: 6 });
    expect(containerUser({ user: undefined }, ownedBy(0, 0, 0o755))).toEqual({
      uid: 1000,
      gid: 1000,
    });
    expect(containerUser({ user: undefined }, ownedBy(1234, 0, 0o755))).toEqual({
      uid: 1234,
      gid: 1234,
    });
    expect(containerUser({ user: undefined }, ownedBy(1234, 99, 0o755))).toEqual({
      uid: 1234,
      gid: 99,
    });
  });

  const user = { uid: 1234, gid: 99 };
  test.each([
    ["its owner's bits, though others have more", 1234, 1, 0o077, true, false],
    ["its owner", 1234, 1, 0o700, true, true],
    ["its group", 1, 99, 0o070, true, true],
    ["its group, which may only read", 1, 99, 0o050, true, false],
    ["its group, which has to read only", 1, 99, 0o050, false, true],
    ["others", 1, 1, 0o007, true, true],
    ["others, who may not enter", 1, 1, 0o006, false, false],
  ])("may use a folder by %s", (_by, uid, gid, mode, write, may) => {
    const path = ownedBy(uid, gid, mode);
    const check = () => checkAccess(user, needed(path, write));
    if (may) expect(check).not.toThrow();
    else expect(check).toThrow(`may not ${write ? "write" : "read"} the working directory ${path}`);
  });
});

describe("what lies in a workspace", () => {
  test("is a folder, a file, a link, something else or nothing, also below a file", () => {
    const folder = folderWith({ file: "text" });
    symlinkSync("file", join(folder, "link"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const kinds = [".", "file", "link", "pipe", "none", "file/below"].map((name) =>
      kindOf(join(folder, name)),
    );
    expect(kinds).toEqual(["folder", "file", "link", "other", "absent", "absent"]);
    expect(() => entryAt(`${folder}/${"x".repeat(300)}`)).toThrow("ENAMETOOLONG");
  });

  test("files of the operator are told apart by whether they bind the agent or hold secrets", () => {
    const folder = folderWith({ file: "" });
    const agent = { file: join(folder, "a.yaml"), fleet_dir: folder };
    const facts = workspaceFacts(join(folder, "below"), "rw", agent, join(folder, ".herdctl"));
    expect(facts.secret).toEqual([join(folder, ".herdctl"), join(folder, ".env")]);
    expect(facts.binding).toEqual([join(folder, "a.yaml"), join(folder, "herdctl.yaml")]);
  });
});
