import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readMetadataFile } from "../../packages/core/src/runner/execution/build-report.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const longAgo = new Date(0);
const wrong = (why: string) => ({ kind: "wrong", warning: `meta.json was not used: ${why}` });

const cases: [what: string, make: (file: string) => void, read: object][] = [
  ["an object", (file) => writeFileSync(file, '{"a":1}'), { kind: "found", metadata: { a: 1 } }],
  ["a missing file", () => undefined, { kind: "none" }],
  ["a list", (file) => writeFileSync(file, "[1]"), wrong("it is not a JSON object")],
  ["invalid JSON", (file) => writeFileSync(file, "{"), wrong("it is not a JSON object")],
  ["a folder", (file) => mkdirSync(file), wrong("it is not a regular file")],
  ["a pipe", (file) => execFileSync("mkfifo", [file]), wrong("it is not a regular file")],
  [
    "an oversized file",
    (file) => {
      writeFileSync(file, "");
      truncateSync(file, 1024 * 1024 + 1);
    },
    wrong("it is larger than 1 MB"),
  ],
  [
    "a link out of the workspace",
    (file) => symlinkSync("/etc/hostname", file),
    wrong("it is not in the working directory"),
  ],
  [
    "a link to itself",
    (file) => symlinkSync(file, file),
    wrong("it is not in the working directory"),
  ],
];

test.each(cases)("reads or rejects %s as metadata for hooks", async (_what, make, read) => {
  const folder = tempFolderWith({});
  make(join(folder, "meta.json"));
  expect(
    await readMetadataFile({ place: "cli", cwd: folder, closedPaths: [] }, "meta.json", longAgo),
  ).toEqual(read);
});

test("ignores the metadata of an earlier run", async () => {
  const folder = tempFolderWith({ "meta.json": "{}" });
  const later = new Date(Date.now() + 60_000);
  expect(
    await readMetadataFile({ place: "cli", cwd: folder, closedPaths: [] }, "meta.json", later),
  ).toEqual({ kind: "none" });
});

test("does not follow a link to a file of the operator", async () => {
  const folder = tempFolderWith({ "state/token.json": '{"token":"x"}', "herdctl.json": '{"a":1}' });
  symlinkSync("state/token.json", join(folder, "meta.json"));
  const from = {
    place: "docker" as const,
    cwd: folder,
    closedPaths: [join(folder, "state"), join(folder, "herdctl.json")],
  };
  const closed = "it belongs to the operator and is closed to the agent";
  expect(await readMetadataFile(from, "meta.json", longAgo)).toEqual(wrong(closed));
  expect(await readMetadataFile(from, "herdctl.json", longAgo)).toMatchObject({ kind: "wrong" });
});
