import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyUntrustedObjects } from "../../packages/core/src/private-git/copy-objects.ts";
import {
  openUntrusted,
  readUntrusted,
} from "../../packages/core/src/private-git/untrusted-file.ts";
import { readUntrustedRefs } from "../../packages/core/src/private-git/untrusted-refs.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const oid = "1".repeat(40);
const other = "2".repeat(64);

test("reads references as plain files and omits what git does not allow", async () => {
  const folder = tempFolderWith({
    HEAD: "ref: refs/heads/deep/topic\n",
    "packed-refs": [
      "# pack-refs with: peeled fully-peeled sorted",
      `${oid} refs/heads/main`,
      `${oid} refs/heads/../../config`,
      `${oid} refs/heads/-option`,
      `${oid} refs/heads/a.lock`,
      `${oid} refs/heads/.hidden`,
      `${oid} refs/remotes/origin/main`,
      `${oid} refs/herdctl/job-1`,
      "no-oid refs/heads/x",
      "",
    ].join("\n"),
    "refs/heads/deep/topic": `${other}\n`,
    "refs/heads/text": "root:x:0:0\n",
    "refs/tags/v1": `${oid}\n`,
    "refs/stash": `${oid}\n`,
    "rebase-merge/git-rebase-todo": "exec true\n",
  });
  symlinkSync(join(folder, "refs/tags/v1"), join(folder, "refs/heads/link"));
  symlinkSync(join(folder, "refs/tags"), join(folder, "refs/heads/folder"));
  execFileSync("mkfifo", [join(folder, "refs/heads/pipe")]);
  const seen = await readUntrustedRefs(folder);
  expect(seen).toMatchObject({ head: other, headRef: "refs/heads/deep/topic" });
  expect(seen.refs).toEqual({
    "refs/heads/main": oid,
    "refs/heads/deep/topic": other,
    "refs/tags/v1": oid,
    "refs/stash": oid,
  });
  expect(seen.warnings.join()).toContain('"refs/heads/../../config"');
  expect(seen.unfinishedState).toBe("a rebase");
});

test("does not follow a link in the path of a file", async () => {
  const folder = tempFolderWith({ "real/file": "text", outside: "secret" });
  symlinkSync("real", join(folder, "link"));
  symlinkSync("../outside", join(folder, "real/out"));
  expect(await readUntrusted(folder, "real/file", 100)).toBe("text");
  expect(await openUntrusted(folder, "link/file")).toBeUndefined();
  expect(await openUntrusted(folder, "real/out")).toBeUndefined();
  expect(await openUntrusted(folder, "real")).toBeUndefined();
});

test("does not read a file that is too large", async () => {
  const folder = tempFolderWith({ large: "" });
  truncateSync(join(folder, "large"), 1024 ** 3);
  expect(await readUntrusted(folder, "large", 1_000)).toBeUndefined();
});

test("copies only loose objects and packs, each within the limits", async () => {
  const loose = "ab".repeat(19);
  const folder = tempFolderWith({
    [`objects/12/${loose}`]: "object",
    "objects/12/tmp_obj_x": "draft",
    "objects/info/alternates": "/etc\n",
    "objects/info/commit-graph": "garbage",
    "objects/pack/multi-pack-index": "garbage",
    [`objects/pack/pack-${oid}.pack`]: "garbage",
    [`objects/pack/pack-${oid}.idx`]: "garbage",
    [`elsewhere/${loose}`]: "of another repository",
  });
  symlinkSync("../elsewhere", join(folder, "objects/13"));
  symlinkSync(`../../elsewhere/${loose}`, join(folder, `objects/12/${"cd".repeat(19)}`));
  const bare = tempFolderWith({});
  execFileSync("git", ["init", "-q", "--bare", bare]);
  const { warnings } = await copyUntrustedObjects(join(folder, "objects"), bare);
  expect(warnings).toEqual([expect.stringContaining("a pack of objects could not be read")]);
  expect(readdirSync(join(bare, "objects/12"))).toEqual([loose]);
  expect(existsSync(join(bare, "objects/13"))).toBe(false);
  expect(readdirSync(join(bare, "objects/pack"))).toEqual([]);
  expect(existsSync(join(bare, "objects/info/alternates"))).toBe(false);

  const limits = { files: 1, bytes: 3 };
  const again = tempFolderWith({});
  mkdirSync(join(again, "objects"));
  await expect(copyUntrustedObjects(join(folder, "objects"), again, limits)).rejects.toThrow(
    "exceed the limits for import",
  );
});
