import { join } from "node:path";
import type { Delivery, DeliveryListView, DeliveryWithBody } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startFleetProcess } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import {
  freePort,
  githubHeaders,
  githubSchedule,
  secret,
  sendWebhook,
} from "../webhooks/webhook-harness.ts";
import { runHerdctl } from "./run-herdctl.ts";

test("lists, shows and replays deliveries, and reads them without a fleet", async () => {
  const harness = await startHarness();
  const port = await freePort();
  const yaml = `version: 1
fleet: { name: test }
server: { port: ${port} }
agents:
  - name: coder
    schedules:
      ${githubSchedule}
`;
  const folder = tempFolderWith({ "herdctl.yaml": yaml, ".env": `SECRET=${secret}\n` });
  const run = (...args: string[]) =>
    runHerdctl(["deliveries", ...args], { cwd: folder, env: harness.env });
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await run(...args, "--json")).stdout);
  expect((await run()).stdout).toBe("No webhook deliveries yet.\n");

  const fleet = await startFleetProcess(harness, join(folder, "herdctl.yaml"));
  await fleet.control.agents.pause("coder");
  const url = `http://127.0.0.1:${port}/hooks/coder/issues`;
  const body = JSON.stringify({ action: "opened", issue: { title: "red \u001b[31m alert" } });
  const taken = await sendWebhook(url, body, githubHeaders(body, { id: "1" }));
  const ping = await sendWebhook(url, "{}", githubHeaders("{}", { event: "ping" }));
  await sendWebhook(url, body, githubHeaders(body, { key: "wrong" }));

  const list = await json<DeliveryListView>("list");
  expect(list.deliveries.map(({ id, status: verdict }) => [id, verdict])).toEqual([
    [ping.json.delivery, "unwanted"],
    [taken.json.delivery, "accepted"],
  ]);
  expect(list.refused).toMatchObject([{ schedule: "issues", reason: "signature_wrong", count: 1 }]);
  const table = (await run()).stdout;
  expect(table).toContain(String(taken.json.job));
  expect(table).toMatch(/a ping/);
  expect(table).toMatch(/coder\/issues: refused 1 delivery .*signature_wrong/);
  const page = await json<{ next_cursor: string }>("--limit", "1");
  expect((await json<DeliveryListView>("--cursor", page.next_cursor)).deliveries).toHaveLength(1);

  const short = String(taken.json.delivery).slice(-10, -2);
  expect(await json<DeliveryWithBody>("show", short)).toMatchObject({
    body,
    event: "issues.opened",
  });
  const shown = (await run("show", short)).stdout;
  expect(shown).toContain("alert");
  expect(shown).not.toContain("\u001b");
  const replayed = await json<Delivery>("replay", short);
  expect(replayed).toMatchObject({ replay_of: taken.json.delivery, status: "accepted" });
  expect(await run("replay", String(ping.json.delivery))).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/ignored: a ping/),
  });

  await fleet.stop();
  expect((await json<DeliveryListView>()).deliveries).toHaveLength(4);
  expect((await run("show", short)).code).toBe(0);
  expect(await run("replay", short)).toMatchObject({ code: 3 });
  expect(await run("show", "nothing")).toMatchObject({ code: 2 });
  expect(await run("show")).toMatchObject({ code: 2 });
});
