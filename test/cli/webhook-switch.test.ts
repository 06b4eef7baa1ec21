import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort, send } from "../webhooks/hook-stage.ts";
import { fleetStage } from "./fleet-stage.ts";
import { stopWhenOver } from "./fleet-stage-running.ts";

test("a webhook is listed and switched like any schedule, and stays off over a restart", async () => {
  const on = await fleetStage();
  const port = await freePort();
  const file = join(on.folder, "herdctl.yaml");
  const hook =
    "asked: { type: webhook, prompt: p, signature: { kind: token, secret_env: SECRET } }";
  const yaml = readFileSync(file, "utf8").replace("schedules: {", `schedules: { ${hook}, `);
  writeFileSync(file, `${yaml}\nserver: { port: ${port} }\n`);
  writeFileSync(join(on.folder, ".env"), "SECRET=known-to-both-sides\n");
  stopWhenOver(on);
  const deliver = async (body: string) => {
    const url = `http://127.0.0.1:${port}/hooks/cli/asked`;
    return (await send(url, body, { authorization: "Bearer known-to-both-sides" })).status;
  };

  await on.run("start", "--detach");
  expect((await on.run("schedules")).stdout).toMatch(
    /^cli +asked +POST \/hooks\/cli\/asked +when delivered/m,
  );
  const off = await on.run("schedules", "disable", "cli", "asked");
  expect(off).toMatchObject({ code: 0, stdout: expect.stringContaining("cli asked is off") });
  expect(await deliver("{}")).toBe(409);
  await on.run("stop", "--now");
  await on.run("start", "--detach");
  expect((await on.run("schedules")).stdout).toMatch(/asked .* off/);
  expect(await deliver("{}")).toBe(409);
  await on.run("schedules", "enable", "cli", "asked");
  expect(await deliver("{}")).toBe(202);
});
