import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasDiskQuota } from "../../packages/core/src/docker/engine-facts.ts";
import {
  findMount,
  parseMounts,
  writableMountsBelow,
} from "../../packages/core/src/docker/host-mounts.ts";
import { enforceReadOnly } from "../../packages/core/src/runner/containers/open-container.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";

const engine = await sharedEngine();

const mounts = parseMounts(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:2 / /srv/repo\\040one/data rw,relatime shared:2 master:3 - xfs /dev/sdb rw,attr2,prjquota
31 22 0:30 / /srv/repo\\040one/ro ro,nosuid - tmpfs tmpfs rw
32 22 0:31 / /srv/repo\\040one-more rw - tmpfs tmpfs rw
`);
const repo = { source: "/srv/repo one", target: "/workspace", readOnly: true };
const oldEngine = { version: "24.0.7", recursiveReadOnly: false };

test("finds writable file systems below a folder, but not beside it or read-only ones", () => {
  expect(writableMountsBelow("/srv/repo one", mounts)).toEqual(["/srv/repo one/data"]);
  expect(writableMountsBelow("/srv/repo one/data", mounts)).toEqual([]);
  expect(findMount("/srv/repo one/data/x", mounts)).toMatchObject({ type: "xfs", readOnly: false });
  expect(findMount("/srv/other", mounts)).toMatchObject({ type: "ext4" });
});

test("refuses a read-only mount with a writable one below it, unless the engine enforces it", () => {
  expect(() => enforceReadOnly([repo], oldEngine, mounts)).toThrow("/srv/repo one/data is mounted");
  const recent = { version: "28.2.2", recursiveReadOnly: true };
  expect(enforceReadOnly([repo], recent, mounts)).toEqual([{ ...repo, recursive: true }]);
  const harmless = [
    { ...repo, readOnly: false },
    { ...repo, source: "/srv/other" },
  ];
  expect(enforceReadOnly(harmless, oldEngine, mounts)).toEqual(harmless);
});

test.each([
  ["btrfs", "/srv/other", true],
  ["zfs", "/srv/other", true],
  ["overlay2", "/srv/repo one/data", true],
  ["overlay2", "/srv/other", false],
  ["vfs", "/srv/repo one/data", false],
])("detects quotas of the engine's driver %s at %s: %s", (driver, rootDir, has) => {
  expect(hasDiskQuota(driver, rootDir, mounts)).toBe(has);
});

/** Mounts a separate in-memory file system that any user may write. */
function mountBelow(folder: string): string {
  const path = join(folder, "data");
  mkdirSync(path);
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0777", "tmpfs", path]);
  onTestFinished(() => void execFileSync("umount", [path]));
  return path;
}

const mountPlaces: [
  option: string,
  mountAt: (harness: TestHarness) => { folder: string; yaml: string },
][] = [
  [
    "workspace_mode: ro",
    (harness) => ({
      folder: harness.workspace,
      yaml: "docker: { enabled: true, workspace_mode: ro }",
    }),
  ],
  [
    "a read-only volume",
    (harness) => {
      const folder = join(harness.root, "shared");
      mkdirSync(folder, { mode: 0o755 });
      return { folder, yaml: `docker: { enabled: true, volumes: ["${folder}:/shared"] }` };
    },
  ],
];

test.each(mountPlaces)(
  "does not start %s over a writable file system below it",
  async (_, mountAt) => {
    const harness = await startDockerHarness(engine);
    const { folder, yaml } = mountAt(harness);
    const path = mountBelow(folder);
    const { job } = await runJobInContainer(harness, { yaml });
    expect(job.outcome).toMatchObject({
      code: "workspace_missing",
      message: expect.stringContaining(`${path} is mounted below ${folder}`),
      hint: expect.stringContaining("Docker to version 25"),
    });
  },
);
