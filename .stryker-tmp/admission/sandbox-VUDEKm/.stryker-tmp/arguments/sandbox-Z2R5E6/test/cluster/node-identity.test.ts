import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadFleet } from "../../packages/config/src/load-fleet.ts";
import { configHash } from "../../packages/core/src/cluster/config-hash.ts";
import { loadNodeIdentity } from "../../packages/core/src/cluster/node-identity.ts";
import { fleetHeader, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

it("keeps the node id with the state directory", async () => {
  const folder = tempFolderWith({});
  const first = await loadNodeIdentity(folder);
  expect(await loadNodeIdentity(folder)).toEqual(first);
  expect(await loadNodeIdentity(folder, "gpu-1")).toEqual({ id: first.id, name: "gpu-1" });
  expect(await loadNodeIdentity(folder)).toEqual({ id: first.id, name: "gpu-1" });
  expect(await loadNodeIdentity(tempFolderWith({}))).not.toMatchObject({ id: first.id });
});

it("leaves an invalid node file unchanged", async () => {
  const folder = tempFolderWith({ "node.json": "{" });
  await expect(loadNodeIdentity(folder)).rejects.toMatchObject({ code: "state_damaged" });
  expect(readFileSync(join(folder, "node.json"), "utf8")).toBe("{");
});

const files = {
  "herdctl.yaml": `${fleetHeader}agents: [{ path: agents/one.yaml }]\n`,
  "agents/one.yaml": "name: one\n",
};

it("gives the same files the same hash in any folder", () => {
  expect(configHash(loadTestFleet(files))).toBe(
    configHash(loadTestFleet({ ...files, ".env": "A=1\n" })),
  );
});

it("changes the hash with a file's content or relative path", () => {
  const print = configHash(loadTestFleet(files));
  expect(
    configHash(loadTestFleet({ ...files, "agents/one.yaml": "name: one\n# more\n" })),
  ).not.toBe(print);
  const moved = {
    "herdctl.yaml": `${fleetHeader}agents: [{ path: "*/one.yaml" }]\n`,
    "elsewhere/one.yaml": "name: one\n",
  };
  expect(configHash(loadTestFleet(moved))).not.toBe(print);
});

it("excludes files that were written after the configuration was read", () => {
  const loaded = loadTestFleet(files);
  const print = configHash(loaded);
  writeFileSync(join(loaded.fleet.dir, "agents/one.yaml"), "name: two\n");
  expect(configHash(loaded)).toBe(print);
  expect(configHash(loadFleet(loaded.fleet.file, {}))).not.toBe(print);
});
