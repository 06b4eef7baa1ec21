import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadFleet } from "../../packages/core/src/config/load.ts";
import { configPrint } from "../../packages/core/src/fleet/nodes/config-print.ts";
import { nodeIdentity } from "../../packages/core/src/fleet/nodes/node-identity.ts";
import { fleetHead, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

it("a node is the same for as long as its state directory is", async () => {
  const folder = folderWith({});
  const first = await nodeIdentity(folder);
  expect(await nodeIdentity(folder)).toEqual(first);
  expect(await nodeIdentity(folder, "gpu-1")).toEqual({ id: first.id, name: "gpu-1" });
  expect(await nodeIdentity(folder)).toEqual({ id: first.id, name: "gpu-1" });
  expect(await nodeIdentity(folderWith({}))).not.toMatchObject({ id: first.id });
});

it("a file that does not say who the node is stays as it is", async () => {
  const folder = folderWith({ "node.json": "{" });
  await expect(nodeIdentity(folder)).rejects.toMatchObject({ code: "state_damaged" });
  expect(readFileSync(join(folder, "node.json"), "utf8")).toBe("{");
});

const files = {
  "herdctl.yaml": `${fleetHead}agents: [{ path: agents/one.yaml }]\n`,
  "agents/one.yaml": "name: one\n",
};

it("the same files are the same configuration, wherever they lie", () => {
  expect(configPrint(load(files))).toBe(configPrint(load({ ...files, ".env": "A=1\n" })));
});

it("another text, or another place, is another configuration", () => {
  const print = configPrint(load(files));
  expect(configPrint(load({ ...files, "agents/one.yaml": "name: one\n# more\n" }))).not.toBe(print);
  const moved = {
    "herdctl.yaml": `${fleetHead}agents: [{ path: "*/one.yaml" }]\n`,
    "elsewhere/one.yaml": "name: one\n",
  };
  expect(configPrint(load(moved))).not.toBe(print);
});

it("what is written after a configuration was read is none of it", () => {
  const loaded = load(files);
  const print = configPrint(loaded);
  writeFileSync(join(loaded.fleet.dir, "agents/one.yaml"), "name: two\n");
  expect(configPrint(loaded)).toBe(print);
  expect(configPrint(loadFleet(loaded.fleet.file, {}))).not.toBe(print);
});
