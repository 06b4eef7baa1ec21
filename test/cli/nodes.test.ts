import { expect, test } from "vitest";
import { fleetStage } from "./fleet-stage.ts";
import { runningFleet } from "./fleet-stage-running.ts";

test("a fleet with its own state says that it runs alone, and shows the one node there is", async () => {
  const on = await runningFleet();
  const { code, stdout } = await on.run("nodes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/runs on this machine alone/);
  expect(stdout).toMatch(/\(here\) +● live +all, leads +0 of 10 +now/);
  const { shared, nodes } = await on.json<{ shared: boolean; nodes: object[] }>("nodes");
  expect(shared).toBe(false);
  expect(nodes).toMatchObject([{ here: true, lead: true, status: "live", running: 0 }]);
});

test("where nothing runs and nothing is shared, it says so", async () => {
  const on = await fleetStage();
  const { code, stdout } = await on.run("nodes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/this machine alone[\s\S]*It does not run\./);
});

test.each([
  [["--role", "worker"], /`--role` is for a fleet whose machines share a store/],
  [["--labels", "gpu"], /`--labels` is for a fleet/],
  [["--node-name", "desk"], /`--node-name` is for a fleet/],
  [["--capacity", "3"], /`--capacity` is for a fleet/],
  [["--role", "boss"], /`boss` is not a role/],
  [["--labels", "gpu,,eu"], /`` is not a label/],
  [["--capacity", "0"], /`0` is not a number of jobs/],
  [["--node-name", "a b"], /`a b` is not a name/],
])("`start %s` is refused where it means nothing", async (flags, message) => {
  const on = await fleetStage();
  for (const detach of [[], ["--detach"]]) {
    const { code, stderr } = await on.run("start", ...detach, ...flags);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  }
});
