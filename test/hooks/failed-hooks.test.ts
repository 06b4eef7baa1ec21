import type { ServerResponse } from "node:http";
import type { FleetControl, HookRun } from "@herdctl/protocol";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { type ReceivedRequest, startReceiver } from "./http-receiver.ts";

const manualTrigger = { agent: "one", prompt: "hello" };
const replyScript = { script: { rules: [{ reply: "The gate is fixed, @everyone <!channel>." }] } };
const fleetWith = (hooks: string) =>
  `  - name: one\n    runtime: cli\n    hooks:\n${hooks.replace(/^/gm, "      ")}`;

/** Discord's checks of a message; it answers with an empty body. */
const discordMessage = z
  .object({
    content: z.string().max(2000).optional(),
    embeds: z.array(z.object({ title: z.string().max(256), description: z.string().max(4096) })),
    allowed_mentions: z.object({ parse: z.tuple([]) }),
  })
  .partial({ embeds: true });

/** Slack's checks of a message; it answers with a word. */
const slackMessage = z.object({
  text: z.string().min(1),
  attachments: z
    .array(z.object({ blocks: z.array(z.object({ type: z.enum(["header", "section"]) })) }))
    .optional(),
});

const validateBody =
  (schema: z.ZodType, status: number, word?: string) =>
  (response: ServerResponse, _: number, { body }: ReceivedRequest) => {
    const isFine = schema.safeParse(JSON.parse(body)).success;
    response.writeHead(isFine ? status : 400).end(isFine ? word : "invalid_payload");
  };

async function waitForHooks(fleet: FleetControl, jobId: string): Promise<HookRun[]> {
  return waitUntil("the hooks to end", async () => {
    const runs = await fleet.hooks.list({ job: jobId, limit: 20 });
    return runs.length > 0 && runs.every(({ finished_at }) => finished_at !== null) && runs;
  });
}

test("sends Discord and Slack valid messages, as a card and as lines, without mentions", async () => {
  const harness = await startHarness(replyScript);
  const discord = await startReceiver(validateBody(discordMessage, 204));
  const slack = await startReceiver(validateBody(slackMessage, 200, "ok"));
  const hooks = ["embed", "text"].flatMap((format) => [
    `  - { type: discord, url: "${discord.url}", format: ${format}, allow_private: true }`,
    `  - { type: slack, url: "${slack.url}", format: ${format}, allow_private: true }`,
  ]);
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, fleetWith(`after_run:\n${hooks.join("\n")}`)),
  );
  const { job } = await fleet.jobs.trigger(manualTrigger);
  const runs = await waitForHooks(fleet, job.id);
  expect(runs.map(({ type, status, attempts }) => [type, status, attempts])).toEqual(
    Array.from(runs, ({ type }) => [type, "succeeded", 1]),
  );
  const sent = [...discord.received, ...slack.received];
  expect(sent).toHaveLength(4);
  for (const { headers, body } of sent) {
    expect(headers["content-type"]).toBe("application/json");
    for (const part of ["The gate is fixed", "success", job.id]) expect(body).toContain(part);
    expect(body).not.toContain("@everyone");
  }
  for (const { body } of slack.received) expect(JSON.parse(body).text).not.toContain("<!");
});

test("honors Discord's retry delay, and gives up on a hook that Slack does not know", async () => {
  const harness = await startHarness(replyScript);
  const times: number[] = [];
  const discord = await startReceiver((response, count) => {
    times.push(Date.now());
    response.writeHead(count === 1 ? 429 : 204, { "retry-after": "1.5" }).end();
  });
  const slack = await startReceiver((response) => response.writeHead(404).end("no_service"));
  const hooks = `after_run:
  - { type: discord, url: "${discord.url}", allow_private: true, retry: { backoff: 50ms } }
  - { type: slack, url: "${slack.url}", allow_private: true, retry: { backoff: 50ms } }`;
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, fleetWith(hooks)));
  const { job } = await fleet.jobs.trigger(manualTrigger);
  const runs = await waitForHooks(fleet, job.id);
  const shown = runs.map(({ type, status, attempts }) => `${type} ${status} ${attempts}`).sort();
  expect(shown).toEqual(["discord succeeded 2", "slack failed 1"]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_500);
  expect(slack.received).toHaveLength(1);
  const failed = runs.find(({ type }) => type === "slack");
  expect(failed).toMatchObject({ message: "HTTP status 404", output: "no_service" });
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "completed" });
});

test("reaches no server of this machine without `allow_private`", async () => {
  const harness = await startHarness(replyScript);
  const inside = await startReceiver((response) => response.end());
  const hooks = ["discord", "slack", "webhook"].map(
    (type) => `  - { type: ${type}, url: "${inside.url}" }`,
  );
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, fleetWith(`after_run:\n${hooks.join("\n")}`)),
  );
  const { job } = await fleet.jobs.trigger(manualTrigger);
  for (const { status, attempts, message } of await waitForHooks(fleet, job.id)) {
    expect({ status, attempts }).toEqual({ status: "failed", attempts: 1 });
    expect(message).toContain("private address");
  }
  expect(inside.received).toEqual([]);
});

describe("unsent messages", () => {
  test.each(["kill", "stop"] as const)(
    "sends an unsent message in the next fleet after a %s, with the same id and a new signature",
    async (how) => {
      const secret = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
      const own = await startHarness(replyScript);
      const harness = { ...own, env: { ...own.env, HOOK_SECRET: secret } };
      let isUp = false;
      const other = await startReceiver((response) => response.writeHead(isUp ? 200 : 503).end());
      const retry = "retry: { max_attempts: 20, backoff: 200ms }";
      const more = `allow_private: true, secret_env: HOOK_SECRET, ${retry}`;
      const hooks = `after_run: [{ type: webhook, url: "${other.url}", ${more} }]`;
      const file = writeFleetFile(harness, fleetWith(hooks));
      const first = await startFleetProcess(harness, file);
      const { job } = await first.control.jobs.trigger(manualTrigger);
      await waitUntil("two tries", async () => other.received.length >= 2);
      await first[how]();
      const before = other.received.length;
      isUp = true;

      const second = await startFleetProcess(harness, file);
      const [run] = await waitForHooks(second.control, job.id);
      expect(run).toMatchObject({ status: "succeeded" });
      expect(run?.attempts).toBeGreaterThanOrEqual(before);
      expect(other.received).toHaveLength(before + 1);
      expect(new Set(other.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      const { body, headers } = other.received.at(-1) ?? { body: "", headers: {} };
      const sent = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      );
      expect(new Webhook(secret).verify(body, sent)).toMatchObject({ job: { id: job.id } });
      await second.stop();
    },
  );
});
