import { expect, test } from "vitest";
import { startCliHarness } from "./cli-harness.ts";
import { startRunningFleet } from "./running-fleet.ts";

test("shows the single node of a fleet without a shared store", async () => {
  const harness = await startRunningFleet();
  const { code, stdout } = await harness.run("nodes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/runs on this machine only/);
  expect(stdout).toMatch(/\(here\) +● live +all, leader +0 of 10 +now/);
  const { shared, nodes } = await harness.json<{ shared: boolean; nodes: object[] }>("nodes");
  expect(shared).toBe(false);
  expect(nodes).toMatchObject([{ self: true, leader: true, status: "live", running: 0 }]);
});

test("reports that no fleet runs and no store is shared", async () => {
  const harness = await startCliHarness();
  const { code, stdout } = await harness.run("nodes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/this machine only[\s\S]*The fleet is not running\./);
});

test.each([
  [["--role", "worker"], /`--role` requires a shared store/],
  [["--labels", "gpu"], /`--labels` requires a shared store/],
  [["--node-name", "desk"], /`--node-name` requires a shared store/],
  [["--capacity", "3"], /`--capacity` requires a shared store/],
  [["--role", "boss"], /`boss` is not a role/],
  [["--labels", "gpu,,eu"], /`` is not a valid label/],
  [["--capacity", "0"], /`0` is not a valid capacity/],
  [["--node-name", "a b"], /`a b` is not a valid node name/],
])("refuses `start %s` where it has no effect", async (flags, message) => {
  const harness = await startCliHarness();
  for (const detach of [[], ["--detach"]]) {
    const { code, stderr } = await harness.run("start", ...detach, ...flags);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  }
});
