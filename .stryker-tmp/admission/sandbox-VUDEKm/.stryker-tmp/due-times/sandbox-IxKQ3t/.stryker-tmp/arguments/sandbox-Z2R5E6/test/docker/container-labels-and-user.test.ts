import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { containerJobOf, labelsOf } from "../../packages/core/src/docker/container-labels.ts";
import { checkAccess, containerUser } from "../../packages/core/src/docker/container-user.ts";
import {
  kindOf,
  lstatIfExists,
  readWorkspaceFacts,
} from "../../packages/core/src/docker/workspace-facts.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

describe("identification of a container's run", () => {
  const identity = { fleet: "f", agent: "a", workspace: "/w" };

  test("reads job and attempt from the labels", () => {
    const who = { jobId: "job-1", attempt: 2 };
    expect(containerJobOf({ labels: labelsOf({ ...identity, job: who }) })).toEqual(who);
  });

  test("returns no job without labels", () => {
    expect(containerJobOf({ labels: {} })).toEqual({ jobId: "", attempt: 0 });
  });
});

describe("user of a container", () => {
  function ownedBy(uid: number, gid: number, mode: number): string {
    const folder = tempFolderWith({});
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, mode);
    chownSync(folder, uid, gid);
    return folder;
  }
  const needed = (path: string, write: boolean) => ({
    ...{ path, needsWrite: write },
    label: "the working directory",
    remedy: "or use another",
  });

  test("uses the configured user or the owner of the folder, and never root", () => {
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
    [
      "denies write access by the owner's bits although others have more",
      1234,
      1,
      0o077,
      true,
      false,
    ],
    ["allows write access to the owner", 1234, 1, 0o700, true, true],
    ["allows write access to the group", 1, 99, 0o070, true, true],
    ["denies write access to a group with read access", 1, 99, 0o050, true, false],
    ["allows read access to a group with read access", 1, 99, 0o050, false, true],
    ["allows access to others with all bits", 1, 1, 0o007, true, true],
    ["denies access to others without the execute bit", 1, 1, 0o006, false, false],
  ])("checks folder access: %s", (_by, uid, gid, mode, write, may) => {
    const path = ownedBy(uid, gid, mode);
    const check = () => checkAccess(user, needed(path, write));
    if (may) expect(check).not.toThrow();
    else expect(check).toThrow(`cannot ${write ? "write" : "read"} the working directory ${path}`);
  });
});

describe("facts about a workspace", () => {
  test("distinguishes folders, files, links, other entries and absent ones, also below a file", () => {
    const folder = tempFolderWith({ file: "text" });
    symlinkSync("file", join(folder, "link"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const kinds = [".", "file", "link", "pipe", "none", "file/below"].map((name) =>
      kindOf(join(folder, name)),
    );
    expect(kinds).toEqual(["folder", "file", "link", "other", "absent", "absent"]);
    expect(() => lstatIfExists(`${folder}/${"x".repeat(300)}`)).toThrow("ENAMETOOLONG");
  });

  test("separates configuration files from secret files of the operator", () => {
    const folder = tempFolderWith({ file: "" });
    const agent = { file: join(folder, "a.yaml"), fleet_dir: folder };
    const facts = readWorkspaceFacts(join(folder, "below"), "rw", agent, join(folder, ".herdctl"));
    expect(facts.secretFiles).toEqual([join(folder, ".herdctl"), join(folder, ".env")]);
    expect(facts.configFiles).toEqual([join(folder, "a.yaml"), join(folder, "herdctl.yaml")]);
  });
});
