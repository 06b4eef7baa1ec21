import { join } from "node:path";
import { FleetManager } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { fromGithub, githubSchedule, hookStage } from "./hook-stage.ts";

const body = JSON.stringify({ action: "opened", issue: { title: "It is broken" } });
const hook = { agent: "coder", schedule: "issues" };

test("a webhook that is switched off answers 409 to those who sign, and takes nothing until it is on", async () => {
  const { fleet, post } = await hookStage([githubSchedule]);
  const first = await post("coder/issues", body, fromGithub(body));
  expect(await fleet.switchSchedule(hook, false)).toMatchObject({ enabled: false, switched: true });
  const off = await post("coder/issues", body, fromGithub(body, { id: "late" }));
  expect(off).toMatchObject({ status: 409, json: { errors: [{ code: "webhook_off" }] } });
  expect((await post("coder/issues", body, fromGithub(body, { key: "wrong" }))).status).toBe(401);
  const { deliveries, refused } = await fleet.deliveries({ limit: 10 });
  expect(deliveries).toHaveLength(1);
  expect(refused).toContainEqual({ ...hook, reason: "webhook_off", count: 1 });
  expect((await fleet.jobs({ limit: 10 })).jobs).toHaveLength(1);

  const replayed = await fleet.replay(String(first.json.delivery));
  expect(replayed).toMatchObject({ verdict: "accepted", job_id: expect.any(String) });
  await fleet.switchSchedule(hook, true);
  expect((await post("coder/issues", body, fromGithub(body, { id: "late" }))).status).toBe(202);
});

test("the switch outlives the fleet and outweighs the configuration", async () => {
  const off = githubSchedule.replace("type: webhook,", "type: webhook, enabled: false,");
  const { fleet, folder, post } = await hookStage([
    githubSchedule,
    off.replace("issues:", "later:"),
  ]);
  expect((await post("coder/later", body, fromGithub(body))).status).toBe(409);
  await fleet.disableSchedule("coder", "issues");
  await fleet.enableSchedule("coder", "later");
  await fleet.stop({ drainMs: 0 });

  const next = new FleetManager({ file: join(folder, "herdctl.yaml"), env: {} });
  onTestFinished(() => next.stop({ drainMs: 0 }));
  await next.initialize();
  expect(await next.schedules()).toMatchObject([
    { ...hook, type: "webhook", when: "POST /hooks/coder/issues", enabled: false, switched: true },
    { agent: "coder", schedule: "later", enabled: true, switched: true },
  ]);
  const receive = (schedule: string) =>
    next.webhooks.door.receive(
      { agent: "coder", schedule },
      {
        headers: { "content-type": "application/json", ...fromGithub(body) },
        body: Buffer.from(body),
      },
    );
  await expect(receive("issues")).rejects.toMatchObject({ code: "webhook_off" });
  expect(await receive("later")).toMatchObject({ delivery: { verdict: "accepted" } });
});
