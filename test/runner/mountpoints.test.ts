import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  hasMountpoints,
  inodesOf,
  makeMountpoints,
  removeMountpoints,
} from "../../packages/core/src/runner/container/mountpoints.ts";
import {
  isHeld,
  makeLiveFolder,
  sweepLiveFolders,
} from "../../packages/core/src/runner/live/live-folder.ts";
import { folderWith } from "../support/folder.ts";

describe("what stands in a workspace to be mounted on", () => {
  function made() {
    const [workspace, stateDir] = [folderWith({ mine: "text" }), folderWith({ keep: "" })];
    const paths = ["folder", "file", "mine"].map((name) => join(workspace, name));
    const [folder = "", file = "", mine = ""] = paths;
    const content = "stands here\n";
    makeMountpoints(stateDir, workspace, [
      { path: folder },
      { path: file, content },
      { path: mine, content },
    ]);
    return { workspace, stateDir, paths, folder, file, mine };
  }

  test("is made, kept while it is used, and gone after it; what was there before stays", () => {
    const { stateDir, paths, folder, file, mine } = made();
    expect(paths.map((path) => existsSync(path))).toEqual([true, true, true]);
    removeMountpoints(stateDir, () => true);
    expect([existsSync(folder), hasMountpoints(stateDir)]).toEqual([true, true]);
    removeMountpoints(stateDir, () => false);
    expect([folder, file, mine].map((path) => existsSync(path))).toEqual([false, false, true]);
    expect(hasMountpoints(stateDir)).toBe(false);
  });

  test("is somebody else's once they changed it", () => {
    const { stateDir, folder, file } = made();
    writeFileSync(join(folder, "theirs"), "");
    writeFileSync(file, "changed");
    removeMountpoints(stateDir, () => false);
    expect([existsSync(folder), existsSync(file)]).toEqual([true, true]);
  });

  test("is no longer ours when a link stands in its place", () => {
    const { stateDir, file, mine } = made();
    rmSync(file);
    symlinkSync(mine, file);
    removeMountpoints(stateDir, () => false);
    expect(existsSync(file)).toBe(true);
  });

  test("that cannot be made is an error", () => {
    const stateDir = folderWith({ keep: "" });
    const lone = { path: "/nowhere/at/all" };
    expect(() => makeMountpoints(stateDir, "/", [lone])).toThrow("ENOENT");
  });

  test("is known by what it is, and its absence is something else", () => {
    const { folder, file } = made();
    const before = inodesOf([folder, file]);
    expect(inodesOf([folder, file])).toBe(before);
    rmSync(file);
    expect(inodesOf([folder, file])).toMatch(/^\d+,gone$/);
  });
});

describe("the folder of a claude that may outlive its job", () => {
  test("is held while its runner lives, and swept when it is dead or never came", async () => {
    const stateDir = folderWith({ keep: "" });
    const folder = (token: string) => join(stateDir, "live", token);
    makeLiveFolder(stateDir, "held");
    for (const token of ["dead", "new", "old"]) mkdirSync(folder(token), { recursive: true });
    const gone = { pid: 1, start_time: "0", boot_id: "another" };
    writeFileSync(join(folder("dead"), "runner.json"), JSON.stringify(gone));
    utimesSync(folder("old"), new Date(0), new Date(0));
    const tokens = ["held", "dead", "new", "old", "none"];
    expect(tokens.map((token) => isHeld(stateDir, token))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
    await sweepLiveFolders(stateDir);
    expect(tokens.map((token) => existsSync(folder(token)))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});
