import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort, sendWebhook } from "../webhooks/webhook-harness.ts";
import { startCliHarness } from "./cli-harness.ts";
import { stopAfterTest } from "./running-fleet.ts";

test("lists and switches a webhook like a schedule, and keeps it off over a restart", async () => {
  const harness = await startCliHarness();
  const port = await freePort();
  const file = join(harness.folder, "herdctl.yaml");
  const hook =
    "asked: { type: webhook, prompt: p, signature: { kind: token, secret_env: SECRET } }";
  const yaml = readFileSync(file, "utf8").replace("schedules: {", `schedules: { ${hook}, `);
  writeFileSync(file, `${yaml}\nserver: { port: ${port} }\n`);
  writeFileSync(join(harness.folder, ".env"), "SECRET=known-to-both-sides\n");
  stopAfterTest(harness);
  const deliver = async (body: string) => {
    const url = `http://127.0.0.1:${port}/hooks/cli/asked`;
    return (await sendWebhook(url, body, { authorization: "Bearer known-to-both-sides" })).status;
  };

  await harness.run("start", "--detach");
  expect((await harness.run("schedules")).stdout).toMatch(
    /^cli +asked +POST \/hooks\/cli\/asked +on delivery/m,
  );
  const off = await harness.run("schedules", "disable", "cli", "asked");
  expect(off).toMatchObject({ code: 0, stdout: expect.stringContaining("cli asked is disabled") });
  expect(await deliver("{}")).toBe(409);
  await harness.run("stop", "--now");
  await harness.run("start", "--detach");
  expect((await harness.run("schedules")).stdout).toMatch(/asked .* disabled/);
  expect(await deliver("{}")).toBe(409);
  await harness.run("schedules", "enable", "cli", "asked");
  expect(await deliver("{}")).toBe(202);
});
