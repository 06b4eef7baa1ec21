import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readMetadataFile } from "../../packages/core/src/runner/metadata-file.ts";
import { folderWith } from "../support/folder.ts";

const longAgo = new Date(0);
const wrong = (why: string) => ({ kind: "wrong", warning: `meta.json was not used: ${why}` });

const cases: [what: string, make: (file: string) => void, read: object][] = [
  ["an object", (file) => writeFileSync(file, '{"a":1}'), { kind: "found", metadata: { a: 1 } }],
  ["nothing", () => undefined, { kind: "none" }],
  ["a list", (file) => writeFileSync(file, "[1]"), wrong("it is not a JSON object")],
  ["no JSON", (file) => writeFileSync(file, "{"), wrong("it is not a JSON object")],
  [
    "a folder",
    (file) => mkdirSync(file),
    wrong("it is not a file, but a folder or something else"),
  ],
  [
    "a pipe",
    (file) => execFileSync("mkfifo", [file]),
    wrong("it is not a file, but a folder or something else"),
  ],
  [
    "too much",
    (file) => {
      writeFileSync(file, "");
      truncateSync(file, 1024 * 1024 + 1);
    },
    wrong("it is larger than 1 MB"),
  ],
  [
    "a way out",
    (file) => symlinkSync("/etc/hostname", file),
    wrong("it does not lie in the working directory"),
  ],
  [
    "a link to itself",
    (file) => symlinkSync(file, file),
    wrong("it does not lie in the working directory"),
  ],
];

test.each(cases)("an agent leaves %s for its hooks", async (_what, make, read) => {
  const folder = folderWith({});
  make(join(folder, "meta.json"));
  expect(
    await readMetadataFile({ place: "cli", cwd: folder, closed: [] }, "meta.json", longAgo),
  ).toEqual(read);
});

test("what an earlier run left is none of this one's", async () => {
  const folder = folderWith({ "meta.json": "{}" });
  const later = new Date(Date.now() + 60_000);
  expect(
    await readMetadataFile({ place: "cli", cwd: folder, closed: [] }, "meta.json", later),
  ).toEqual({ kind: "none" });
});

test("a link to a file of the operator's is not followed", async () => {
  const folder = folderWith({ "state/token.json": '{"token":"x"}', "herdctl.json": '{"a":1}' });
  symlinkSync("state/token.json", join(folder, "meta.json"));
  const from = {
    place: "docker" as const,
    cwd: folder,
    closed: [join(folder, "state"), join(folder, "herdctl.json")],
  };
  const closed = "it belongs to the operator and is closed to the agent";
  expect(await readMetadataFile(from, "meta.json", longAgo)).toEqual(wrong(closed));
  expect(await readMetadataFile(from, "herdctl.json", longAgo)).toMatchObject({ kind: "wrong" });
});
