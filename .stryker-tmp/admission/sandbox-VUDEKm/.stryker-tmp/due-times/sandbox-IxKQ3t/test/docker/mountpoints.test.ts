import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  hasMountpoints,
  inodesOf,
  makeMountpoints,
  removeMountpoints,
} from "../../packages/core/src/docker/mountpoints.ts";
import {
  isRunTokenInUse,
  makeKeepAliveFolder,
  removeStaleKeepAliveFolders,
} from "../../packages/core/src/runner/contract/keep-alive-folder.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

describe("mountpoints in a workspace", () => {
  function made() {
    const [workspace, stateDir] = [tempFolderWith({ mine: "text" }), tempFolderWith({ keep: "" })];
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

  test("creates a mountpoint, keeps it while in use and removes it afterwards, without touching existing entries", () => {
    const { stateDir, paths, folder, file, mine } = made();
    expect(paths.map((path) => existsSync(path))).toEqual([true, true, true]);
    removeMountpoints(stateDir, () => true);
    expect([existsSync(folder), hasMountpoints(stateDir)]).toEqual([true, true]);
    removeMountpoints(stateDir, () => false);
    expect([folder, file, mine].map((path) => existsSync(path))).toEqual([false, false, true]);
    expect(hasMountpoints(stateDir)).toBe(false);
  });

  test("leaves a mountpoint alone once someone changed it", () => {
    const { stateDir, folder, file } = made();
    writeFileSync(join(folder, "theirs"), "");
    writeFileSync(file, "changed");
    removeMountpoints(stateDir, () => false);
    expect([existsSync(folder), existsSync(file)]).toEqual([true, true]);
  });

  test("leaves a mountpoint alone when a link replaced it", () => {
    const { stateDir, file, mine } = made();
    rmSync(file);
    symlinkSync(mine, file);
    removeMountpoints(stateDir, () => false);
    expect(existsSync(file)).toBe(true);
  });

  test("reports a mountpoint that cannot be created", () => {
    const stateDir = tempFolderWith({ keep: "" });
    const lone = { path: "/nowhere/at/all" };
    expect(() => makeMountpoints(stateDir, "/", [lone])).toThrow("ENOENT");
  });

  test("identifies an entry by its kind, including its absence", () => {
    const { folder, file } = made();
    const before = inodesOf([folder, file]);
    expect(inodesOf([folder, file])).toBe(before);
    rmSync(file);
    expect(inodesOf([folder, file])).toMatch(/^\d+,gone$/);
  });
});

describe("folder of a claude that may outlive its job", () => {
  test("keeps the folder while its runner lives, and removes it when the runner is dead or never started", async () => {
    const stateDir = tempFolderWith({ keep: "" });
    const folder = (token: string) => join(stateDir, "live", token);
    makeKeepAliveFolder(stateDir, "held");
    for (const token of ["dead", "new", "old"]) mkdirSync(folder(token), { recursive: true });
    const gone = { pid: 1, start_time: "0", boot_id: "another" };
    writeFileSync(join(folder("dead"), "runner.json"), JSON.stringify(gone));
    utimesSync(folder("old"), new Date(0), new Date(0));
    const tokens = ["held", "dead", "new", "old", "none"];
    expect(tokens.map((token) => isRunTokenInUse(stateDir, token))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
    await removeStaleKeepAliveFolders(stateDir);
    expect(tokens.map((token) => existsSync(folder(token)))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});
