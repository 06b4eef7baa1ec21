import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasDiskQuota } from "../../packages/core/src/runner/container/engine-facts.ts";
import {
  mountOf,
  parseMounts,
  writableMountsBelow,
} from "../../packages/core/src/runner/container/host-mounts.ts";
import { readOnlyThroughout } from "../../packages/core/src/runner/container/read-only-mounts.ts";
import { dockerStage, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();

const mounts = parseMounts(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:2 / /srv/repo\\040one/data rw,relatime shared:2 master:3 - xfs /dev/sdb rw,attr2,prjquota
31 22 0:30 / /srv/repo\\040one/ro ro,nosuid - tmpfs tmpfs rw
32 22 0:31 / /srv/repo\\040one-more rw - tmpfs tmpfs rw
`);
const repo = { source: "/srv/repo one", target: "/workspace", readOnly: true };
const old = { version: "24.0.7", recursiveReadOnly: false };

test("writable file systems below a folder are found, not those beside it or read-only ones", () => {
  expect(writableMountsBelow("/srv/repo one", mounts)).toEqual(["/srv/repo one/data"]);
  expect(writableMountsBelow("/srv/repo one/data", mounts)).toEqual([]);
  expect(mountOf("/srv/repo one/data/x", mounts)).toMatchObject({ type: "xfs", readOnly: false });
  expect(mountOf("/srv/other", mounts)).toMatchObject({ type: "ext4" });
});

test("a read-only mount with a writable one below it is refused, or the engine has to make it so", () => {
  expect(() => readOnlyThroughout([repo], old, mounts)).toThrow("/srv/repo one/data is mounted");
  const recent = { version: "28.2.2", recursiveReadOnly: true };
  expect(readOnlyThroughout([repo], recent, mounts)).toEqual([{ ...repo, recursive: true }]);
  const harmless = [
    { ...repo, readOnly: false },
    { ...repo, source: "/srv/other" },
  ];
  expect(readOnlyThroughout(harmless, old, mounts)).toEqual(harmless);
});

test.each([
  ["btrfs", "/srv/other", true],
  ["zfs", "/srv/other", true],
  ["overlay2", "/srv/repo one/data", true],
  ["overlay2", "/srv/other", false],
  ["vfs", "/srv/repo one/data", false],
])("the engine's driver %s at %s has quotas: %s", (driver, rootDir, has) => {
  expect(hasDiskQuota(driver, rootDir, mounts)).toBe(has);
});

/** A file system of its own, in memory, that any user may write. */
function mountBelow(folder: string): string {
  const path = join(folder, "data");
  mkdirSync(path);
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0777", "tmpfs", path]);
  onTestFinished(() => void execFileSync("umount", [path]));
  return path;
}

const places: [option: string, mountAt: (on: Stage) => { folder: string; yaml: string }][] = [
  [
    "workspace_mode: ro",
    (on) => ({
      folder: on.workspace,
      yaml: "docker: { enabled: true, workspace_mode: ro }",
    }),
  ],
  [
    "a read-only volume",
    (on) => {
      const folder = join(on.root, "shared");
      mkdirSync(folder, { mode: 0o755 });
      return { folder, yaml: `docker: { enabled: true, volumes: ["${folder}:/shared"] }` };
    },
  ],
];

test.each(places)("%s is not started over a writable file system below it", async (_, mountAt) => {
  const on = await dockerStage(engine);
  const { folder, yaml } = mountAt(on);
  const path = mountBelow(folder);
  const { job } = await runContained(on, { yaml });
  expect(job.outcome).toMatchObject({
    code: "workspace_missing",
    message: expect.stringContaining(`${path} is mounted below ${folder}`),
    hint: expect.stringContaining("Docker to version 25"),
  });
});
