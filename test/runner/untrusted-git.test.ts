import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyUntrustedObjects } from "../../packages/core/src/runner/git/copy-objects.ts";
import { openUntrusted, readUntrusted } from "../../packages/core/src/runner/git/untrusted-file.ts";
import { readUntrustedRefs } from "../../packages/core/src/runner/git/untrusted-refs.ts";
import { folderWith } from "../support/folder.ts";

const oid = "1".repeat(40);
const other = "2".repeat(64);

test("references are read as plain files, and what git does not allow is left out", async () => {
  const folder = folderWith({
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
  expect(seen.unfinished).toBe("a rebase");
});

test("a link on the way to a file is not followed", async () => {
  const folder = folderWith({ "real/file": "text", outside: "secret" });
  symlinkSync("real", join(folder, "link"));
  symlinkSync("../outside", join(folder, "real/out"));
  expect(await readUntrusted(folder, "real/file", 100)).toBe("text");
  expect(await openUntrusted(folder, "link/file")).toBeUndefined();
  expect(await openUntrusted(folder, "real/out")).toBeUndefined();
  expect(await openUntrusted(folder, "real")).toBeUndefined();
});

test("a file that is too large is not read", async () => {
  const folder = folderWith({ large: "" });
  truncateSync(join(folder, "large"), 1024 ** 3);
  expect(await readUntrusted(folder, "large", 1_000)).toBeUndefined();
});

test("only loose objects and packs are copied, each within the limits", async () => {
  const loose = "ab".repeat(19);
  const folder = folderWith({
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
  const bare = folderWith({});
  execFileSync("git", ["init", "-q", "--bare", bare]);
  const { warnings } = await copyUntrustedObjects(join(folder, "objects"), bare);
  expect(warnings).toEqual([expect.stringContaining("a pack of objects could not be read")]);
  expect(readdirSync(join(bare, "objects/12"))).toEqual([loose]);
  expect(existsSync(join(bare, "objects/13"))).toBe(false);
  expect(readdirSync(join(bare, "objects/pack"))).toEqual([]);
  expect(existsSync(join(bare, "objects/info/alternates"))).toBe(false);

  const limits = { files: 1, bytes: 3 };
  const again = folderWith({});
  mkdirSync(join(again, "objects"));
  await expect(copyUntrustedObjects(join(folder, "objects"), again, limits)).rejects.toThrow(
    "more than may be brought out",
  );
});
