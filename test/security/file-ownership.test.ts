import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { StateManager } from "@herdctl/core/internal";
import { findFleetFile } from "@herdctl/protocol";
import { connectFleet } from "@herdctl/protocol/client";
import { readToken } from "@herdctl/server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { fleetHeader } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { otherUser } from "./other-user.ts";

const dubiousOwnershipError = expect.objectContaining({ code: "dubious_ownership" });
const files = {
  "herdctl.yaml": `${fleetHeader}agents: [{ path: agents/one.yaml }]\n`,
  "agents/one.yaml": "name: one\n",
  ".env": "SECRET=x\n",
  ".herdctl/token": `${"t".repeat(43)}\n`,
  "below/file": "",
};

function plantFiles(...names: string[]): string {
  const folder = tempFolderWith(files);
  for (const name of names) chownSync(join(folder, name), otherUser.uid, otherUser.gid);
  return folder;
}

describe("files of another user", () => {
  test.each(["herdctl.yaml", ".env", ".herdctl", "."])("refuses %s", (name) => {
    const folder = plantFiles(name);
    expect(() => findFleetFile({ cwd: join(folder, "below") })).toThrow(dubiousOwnershipError);
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(dubiousOwnershipError);
  });

  test("refuses an agent file whose gates and hooks would run as this user", () => {
    const folder = plantFiles("agents/one.yaml");
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(dubiousOwnershipError);
  });

  test("checks the target of a link and the link itself", () => {
    const folder = plantFiles("herdctl.yaml");
    const around = tempFolderWith({});
    symlinkSync(join(folder, "herdctl.yaml"), join(around, "herdctl.yaml"));
    expect(() => findFleetFile({ cwd: around })).toThrow(dubiousOwnershipError);
  });

  test.each([
    ["herdctl.yaml", 0o666],
    [".env", 0o606],
    [".herdctl", 0o777],
    [".", 0o777],
  ])("refuses %s with mode %o, which every user may change", (name, mode) => {
    const folder = plantFiles();
    chmodSync(join(folder, name), mode);
    expect(() => findFleetFile({ cwd: folder })).toThrow(dubiousOwnershipError);
  });

  test("allows a folder and everything below it by HERDCTL_SAFE_DIRECTORY, and no other", () => {
    const folder = plantFiles("herdctl.yaml", ".env", ".herdctl", ".", "agents/one.yaml");
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("HERDCTL_SAFE_DIRECTORY", `/nowhere:${folder}`);
    expect(loadFleet(findFleetFile({ cwd: folder }), {}).fleet.agents).toHaveLength(1);
    expect(() => findFleetFile({ cwd: plantFiles("herdctl.yaml") })).toThrow(dubiousOwnershipError);
  });

  test("does not open a state folder that another user created first", async () => {
    const folder = plantFiles(".herdctl");
    await expect(new StateManager(join(folder, ".herdctl")).open()).rejects.toEqual(
      dubiousOwnershipError,
    );
    const reading = new StateManager(join(folder, ".herdctl")).open({ readOnly: true });
    await expect(reading).rejects.toEqual(dubiousOwnershipError);
  });

  test("does not use a token file or a socket of another user", async () => {
    const folder = plantFiles(".herdctl/token");
    expect(() => readToken(join(folder, ".herdctl/token"))).toThrow(dubiousOwnershipError);
    const socket = join(folder, "herdctl.sock");
    const server = createServer((client) => client.destroy()).listen(socket);
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    chownSync(socket, otherUser.uid, otherUser.gid);
    await expect(connectFleet({ socketPath: socket })).rejects.toEqual(dubiousOwnershipError);
  });

  test("refuses in every command to talk to a planted fleet, and completes nothing", async () => {
    const folder = plantFiles(".herdctl");
    chmodSync(join(folder, ".herdctl"), 0o700);
    let connections = 0;
    const server = createServer((client) => {
      connections += 1;
      client.destroy();
    }).listen(join(folder, ".herdctl/herdctl.sock"));
    onTestFinished(() => void server.close());
    const cwd = join(folder, "below");
    const results = await Promise.all([
      runHerdctl(["status"], { cwd }),
      runHerdctl(["open"], { cwd }),
      runHerdctl(["start"], { cwd }),
      runHerdctl(["__complete", "herdctl", "trigger", ""], { cwd }),
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

  test("reports such files in doctor without reading them", async () => {
    const folder = plantFiles("herdctl.yaml");
    const { stdout, code } = await runHerdctl(["doctor", "--offline", "--json"], { cwd: folder });
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

describe("search for herdctl.yaml", () => {
  test("ends at the home directory", () => {
    const above = tempFolderWith({ ...files, "home/project/file": "" });
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("HOME", join(above, "home"));
    const search = () => findFleetFile({ cwd: join(above, "home/project") });
    expect(search).toThrow(expect.objectContaining({ code: "config_not_found" }));
    vi.stubEnv("HOME", join(above, "elsewhere"));
    expect(search()).toBe(join(above, "herdctl.yaml"));
  });

  test("ends at the border of a file system", () => {
    const folder = "/dev/shm/herdctl-search";
    mkdirSync(folder, { recursive: true });
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => findFleetFile({ cwd: folder })).toThrow(/up to \/dev\/shm$/);
  });
});
