import { join } from "node:path";
import type { Delivery, DeliveryList, DeliveryWithBody } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetProgram } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import { freePort, fromGithub, githubSchedule, secret, send } from "../webhooks/hook-stage.ts";
import { herdctl } from "./herdctl.ts";

test("deliveries are listed, shown and replayed, and read without a fleet too", async () => {
  const on = await stage();
  const port = await freePort();
  const yaml = `version: 1
fleet: { name: test }
server: { port: ${port} }
agents:
  - name: coder
    schedules:
      ${githubSchedule}
`;
  const folder = folderWith({ "herdctl.yaml": yaml, ".env": `SECRET=${secret}\n` });
  const run = (...args: string[]) => herdctl(["deliveries", ...args], { cwd: folder, env: on.env });
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await run(...args, "--json")).stdout);
  expect((await run()).stdout).toBe("Nothing has been delivered here.\n");

  const fleet = await fleetProgram(on, join(folder, "herdctl.yaml"));
  await fleet.control.pauseAgent("coder");
  const url = `http://127.0.0.1:${port}/hooks/coder/issues`;
  const body = JSON.stringify({ action: "opened", issue: { title: "red \u001b[31m alert" } });
  const taken = await send(url, body, fromGithub(body, { id: "1" }));
  const ping = await send(url, "{}", fromGithub("{}", { event: "ping" }));
  await send(url, body, fromGithub(body, { key: "wrong" }));

  const list = await json<DeliveryList>("list");
  expect(list.deliveries.map(({ id, verdict }) => [id, verdict])).toEqual([
    [ping.json.delivery, "unwanted"],
    [taken.json.delivery, "accepted"],
  ]);
  expect(list.refused).toMatchObject([{ schedule: "issues", reason: "signature_wrong", count: 1 }]);
  const table = (await run()).stdout;
  expect(table).toContain(String(taken.json.job));
  expect(table).toMatch(/a ping/);
  expect(table).toMatch(/refused 1 time .*coder\/issues: signature_wrong/);
  const page = await json<{ next: number }>("--limit", "1");
  expect((await json<DeliveryList>("--cursor", String(page.next))).deliveries).toHaveLength(1);

  const short = String(taken.json.delivery).slice(-10, -2);
  expect(await json<DeliveryWithBody>("show", short)).toMatchObject({
    body,
    event: "issues.opened",
  });
  const shown = (await run("show", short)).stdout;
  expect(shown).toContain("alert");
  expect(shown).not.toContain("\u001b");
  const replayed = await json<Delivery>("replay", short);
  expect(replayed).toMatchObject({ replay_of: taken.json.delivery, verdict: "accepted" });
  expect(await run("replay", String(ping.json.delivery))).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(/not wanted: a ping/),
  });

  await fleet.stop();
  expect((await json<DeliveryList>()).deliveries).toHaveLength(4);
  expect((await run("show", short)).code).toBe(0);
  expect(await run("replay", short)).toMatchObject({ code: 3 });
  expect(await run("show", "nothing")).toMatchObject({ code: 2 });
  expect(await run("show")).toMatchObject({ code: 2 });
});
