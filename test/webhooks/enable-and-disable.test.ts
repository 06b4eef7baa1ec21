import { join } from "node:path";
import { FleetManager } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { githubHeaders, githubSchedule, startWebhookHarness } from "./webhook-harness.ts";

const body = JSON.stringify({ action: "opened", issue: { title: "It is broken" } });
const hook = { agent: "coder", schedule: "issues" };

test("answers signed deliveries with 409 while a webhook is switched off", async () => {
  const { fleet, post } = await startWebhookHarness([githubSchedule]);
  const first = await post("coder/issues", body, githubHeaders(body));
  expect(await fleet.schedules.disable(hook)).toMatchObject({
    enabled: false,
    overridden: true,
  });
  const off = await post("coder/issues", body, githubHeaders(body, { id: "late" }));
  expect(off).toMatchObject({ status: 409, json: { errors: [{ code: "webhook_off" }] } });
  expect((await post("coder/issues", body, githubHeaders(body, { key: "wrong" }))).status).toBe(
    401,
  );
  const { deliveries, refused } = await fleet.deliveries.list({ limit: 10 });
  expect(deliveries).toHaveLength(1);
  expect(refused).toContainEqual({ ...hook, reason: "webhook_off", count: 1 });
  expect((await fleet.jobs.list({ limit: 10 })).jobs).toHaveLength(1);

  const replayed = await fleet.deliveries.replay(String(first.json.delivery));
  expect(replayed).toMatchObject({ status: "accepted", job_id: expect.any(String) });
  await fleet.schedules.enable(hook);
  expect((await post("coder/issues", body, githubHeaders(body, { id: "late" }))).status).toBe(202);
});

test("keeps the switch across fleets and above the configuration", async () => {
  const off = githubSchedule.replace("type: webhook,", "type: webhook, enabled: false,");
  const { fleet, folder, post } = await startWebhookHarness([
    githubSchedule,
    off.replace("issues:", "later:"),
  ]);
  expect((await post("coder/later", body, githubHeaders(body))).status).toBe(409);
  await fleet.schedules.disable({ agent: "coder", schedule: "issues" });
  await fleet.schedules.enable({ agent: "coder", schedule: "later" });
  await fleet.shutdown({ drainMs: 0 });

  const next = new FleetManager({ file: join(folder, "herdctl.yaml"), env: {} });
  onTestFinished(() => next.shutdown({ drainMs: 0 }));
  await next.initialize();
  expect(await next.schedules.list()).toMatchObject([
    {
      ...hook,
      type: "webhook",
      when: "POST /hooks/coder/issues",
      enabled: false,
      overridden: true,
    },
    { agent: "coder", schedule: "later", enabled: true, overridden: true },
  ]);
  const receive = (schedule: string) =>
    next.webhooks.receiver.receive(
      { agent: "coder", schedule },
      {
        headers: { "content-type": "application/json", ...githubHeaders(body) },
        body: Buffer.from(body),
      },
    );
  await expect(receive("issues")).rejects.toMatchObject({ code: "webhook_off" });
  expect(await receive("later")).toMatchObject({ delivery: { status: "accepted" } });
});
