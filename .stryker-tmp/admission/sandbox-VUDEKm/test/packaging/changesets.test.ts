import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, waitForExit } from "../cli/run-herdctl.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const names = readdirSync(join(checkout, "packages"));

test("gives every package one version and writes the changes into the changelog", async () => {
  const copy = copyOfManifests();
  const before = manifestsIn(copy);
  const { code, stderr } = await changesetVersion(copy);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);

  const after = manifestsIn(copy);
  const [version] = after.map((manifest) => manifest.version);
  expect(version).not.toBe(before[0]?.version);
  expect(after.map((manifest) => manifest.version)).toEqual(names.map(() => version));
  const changelog = readFileSync(join(copy, "packages/cli/CHANGELOG.md"), "utf8");
  expect(changelog).toContain(`## ${version}`);
  expect(changelog).toContain("a dashboard in the browser (`herdctl open`)");
  for (const name of names)
    expect(existsSync(join(copy, "packages", name, "CHANGELOG.md"))).toBe(true);
  expect(readdirSync(join(copy, ".changeset"))).toEqual(["config.json"]);
});

/** A separate repository with the files that `changeset` reads. */
function copyOfManifests(): string {
  const copy = tempFolderWith({});
  for (const path of ["package.json", "pnpm-workspace.yaml", ".changeset"]) {
    cpSync(join(checkout, path), join(copy, path), { recursive: true });
  }
  for (const name of names) {
    const manifest = `packages/${name}/package.json`;
    cpSync(join(checkout, manifest), join(copy, manifest), { recursive: true });
  }
  symlinkSync(join(checkout, "node_modules"), join(copy, "node_modules"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: copy, stdio: "ignore" });
  const author = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  git("init", "--initial-branch=main");
  git("add", ".changeset", "packages", "package.json");
  git(...author, "commit", "--message", "All that is to be released");
  return copy;
}

function manifestsIn(copy: string): { name: string; version: string }[] {
  return names.map((name) =>
    JSON.parse(readFileSync(join(copy, "packages", name, "package.json"), "utf8")),
  );
}

function changesetVersion(copy: string) {
  const program = join(checkout, "node_modules/@changesets/cli/bin.js");
  return waitForExit(spawn(process.execPath, [program, "version"], { cwd: copy }));
}
