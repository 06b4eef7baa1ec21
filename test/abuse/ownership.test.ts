import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { findFleetFile, loadFleet, StateManager } from "@herdctl/core";
import { readToken } from "@herdctl/server";
import { connectFleet } from "@herdctl/server/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { fleetHead } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { stranger } from "./neighbour.ts";

const dubious = expect.objectContaining({ code: "dubious_ownership" });
const files = {
  "herdctl.yaml": `${fleetHead}agents: [{ path: agents/one.yaml }]\n`,
  "agents/one.yaml": "name: one\n",
  ".env": "SECRET=x\n",
  ".herdctl/token": `${"t".repeat(43)}\n`,
  "below/file": "",
};

function planted(...names: string[]): string {
  const folder = folderWith(files);
  for (const name of names) chownSync(join(folder, name), stranger.uid, stranger.gid);
  return folder;
}

describe("files of another user", () => {
  test.each(["herdctl.yaml", ".env", ".herdctl", "."])("%s is refused", (name) => {
    const folder = planted(name);
    expect(() => findFleetFile({ cwd: join(folder, "below") })).toThrow(dubious);
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(dubious);
  });

  test("an agent file is refused, whose gates and hooks would run as this user", () => {
    const folder = planted("agents/one.yaml");
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(dubious);
  });

  test("a link is followed before it is judged, and is judged itself", () => {
    const folder = planted("herdctl.yaml");
    const around = folderWith({});
    symlinkSync(join(folder, "herdctl.yaml"), join(around, "herdctl.yaml"));
    expect(() => findFleetFile({ cwd: around })).toThrow(dubious);
  });

  test.each([
    ["herdctl.yaml", 0o666],
    [".env", 0o606],
    [".herdctl", 0o777],
    [".", 0o777],
  ])("%s with mode %o is refused, since all may change it", (name, mode) => {
    const folder = planted();
    chmodSync(join(folder, name), mode);
    expect(() => findFleetFile({ cwd: folder })).toThrow(dubious);
  });

  test("HERDCTL_SAFE_DIRECTORY allows a folder and all below it, and no other", () => {
    const folder = planted("herdctl.yaml", ".env", ".herdctl", ".", "agents/one.yaml");
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("HERDCTL_SAFE_DIRECTORY", `/nowhere:${folder}`);
    expect(loadFleet(findFleetFile({ cwd: folder }), {}).fleet.agents).toHaveLength(1);
    expect(() => findFleetFile({ cwd: planted("herdctl.yaml") })).toThrow(dubious);
  });

  test("a state folder that another user made first is not opened", async () => {
    const folder = planted(".herdctl");
    await expect(new StateManager(join(folder, ".herdctl")).open()).rejects.toEqual(dubious);
    const reading = new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
    await expect(reading).rejects.toEqual(dubious);
  });

  test("a token file and a socket of another user are not used", async () => {
    const folder = planted(".herdctl/token");
    expect(() => readToken(join(folder, ".herdctl/token"))).toThrow(dubious);
    const socket = join(folder, "herdctl.sock");
    const server = createServer((client) => client.destroy()).listen(socket);
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    chownSync(socket, stranger.uid, stranger.gid);
    await expect(connectFleet(socket)).rejects.toEqual(dubious);
  });

  test("no command speaks to a planted fleet: each refuses, and completion is silent", async () => {
    const folder = planted(".herdctl");
    chmodSync(join(folder, ".herdctl"), 0o700);
    let connections = 0;
    const server = createServer((client) => {
      connections += 1;
      client.destroy();
    }).listen(join(folder, ".herdctl/herdctl.sock"));
    onTestFinished(() => void server.close());
    const cwd = join(folder, "below");
    const results = await Promise.all([
      herdctl(["status"], { cwd }),
      herdctl(["open"], { cwd }),
      herdctl(["start"], { cwd }),
      herdctl(["__complete", "herdctl", "trigger", ""], { cwd }),
    ]);
    for (const { code, stderr } of results.slice(0, 3)) {
      expect(code).toBe(4);
      expect(stderr).toContain(`sudo chown -R root ${join(folder, ".herdctl")}`);
      expect(stderr).toContain("HERDCTL_SAFE_DIRECTORY=");
    }
    expect(results[3]?.stdout).not.toContain("one");
    expect(connections).toBe(0);
    expect(existsSync(join(folder, ".herdctl/herd.db"))).toBe(false);
  });

  test("doctor reports them, and reads nothing of them", async () => {
    const folder = planted("herdctl.yaml");
    const { stdout, code } = await herdctl(["doctor", "--offline", "--json"], { cwd: folder });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout);
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: "configuration",
        verdict: "failed",
        message: expect.stringContaining("belongs to another user (uid 65534)"),
      }),
    );
  });
});

describe("the search for herdctl.yaml", () => {
  test("ends at the home directory", () => {
    const above = folderWith({ ...files, "home/project/file": "" });
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("HOME", join(above, "home"));
    const search = () => findFleetFile({ cwd: join(above, "home/project") });
    expect(search).toThrow(expect.objectContaining({ code: "config_not_found" }));
    vi.stubEnv("HOME", join(above, "elsewhere"));
    expect(search()).toBe(join(above, "herdctl.yaml"));
  });

  test("ends where another file system begins", () => {
    const folder = "/dev/shm/herdctl-search";
    mkdirSync(folder, { recursive: true });
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => findFleetFile({ cwd: folder })).toThrow(/up to \/dev\/shm$/);
  });
});
