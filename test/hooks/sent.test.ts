import type { ServerResponse } from "node:http";
import type { FleetControl, HookRun } from "@herdctl/core";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { type Received, receiver } from "./receiver.ts";

const manual = { trigger: "manual" as const, agent: "one", prompt: "hello" };
const mended = { script: { rules: [{ reply: "The door is mended, @everyone <!channel>." }] } };
const fleetWith = (hooks: string) =>
  `  - name: one\n    runtime: cli\n    hooks:\n${hooks.replace(/^/gm, "      ")}`;

/** What Discord takes, as far as it is strict about it; it answers with nothing. */
const discordMessage = z
  .object({
    content: z.string().max(2000).optional(),
    embeds: z.array(z.object({ title: z.string().max(256), description: z.string().max(4096) })),
    allowed_mentions: z.object({ parse: z.tuple([]) }),
  })
  .partial({ embeds: true });

/** What Slack takes; it answers with a word. */
const slackMessage = z.object({
  text: z.string().min(1),
  attachments: z
    .array(z.object({ blocks: z.array(z.object({ type: z.enum(["header", "section"]) })) }))
    .optional(),
});

const strict =
  (schema: z.ZodType, status: number, word?: string) =>
  (response: ServerResponse, _: number, { body }: Received) => {
    const isFine = schema.safeParse(JSON.parse(body)).success;
    response.writeHead(isFine ? status : 400).end(isFine ? word : "invalid_payload");
  };

async function ended(fleet: FleetControl, jobId: string): Promise<HookRun[]> {
  return until("the hooks to be over", async () => {
    const runs = await fleet.hooks({ jobId, limit: 20 });
    return runs.length > 0 && runs.every(({ finished_at }) => finished_at !== null) && runs;
  });
}

test("Discord and Slack get a message that they take, as a card and as lines, and nobody is called", async () => {
  const on = await stage(mended);
  const discord = await receiver(strict(discordMessage, 204));
  const slack = await receiver(strict(slackMessage, 200, "ok"));
  const hooks = ["embed", "text"].flatMap((format) => [
    `  - { type: discord, url: "${discord.url}", format: ${format}, allow_private: true }`,
    `  - { type: slack, url: "${slack.url}", format: ${format}, allow_private: true }`,
  ]);
  const fleet = await startFleet(on, fleetFile(on, fleetWith(`after_run:\n${hooks.join("\n")}`)));
  const { job } = await fleet.trigger(manual);
  const runs = await ended(fleet, job.id);
  expect(runs.map(({ type, status, attempts }) => [type, status, attempts])).toEqual(
    Array.from(runs, ({ type }) => [type, "succeeded", 1]),
  );
  const sent = [...discord.received, ...slack.received];
  expect(sent).toHaveLength(4);
  for (const { headers, body } of sent) {
    expect(headers["content-type"]).toBe("application/json");
    for (const part of ["The door is mended", "success", job.id]) expect(body).toContain(part);
    expect(body).not.toContain("@everyone");
  }
  for (const { body } of slack.received) expect(JSON.parse(body).text).not.toContain("<!");
});

test("a Discord that asks for patience is not asked sooner; a Slack that does not know the hook is not asked again", async () => {
  const on = await stage(mended);
  const times: number[] = [];
  const discord = await receiver((response, count) => {
    times.push(Date.now());
    response.writeHead(count === 1 ? 429 : 204, { "retry-after": "1.5" }).end();
  });
  const slack = await receiver((response) => response.writeHead(404).end("no_service"));
  const hooks = `after_run:
  - { type: discord, url: "${discord.url}", allow_private: true, retry: { backoff: 50ms } }
  - { type: slack, url: "${slack.url}", allow_private: true, retry: { backoff: 50ms } }`;
  const fleet = await startFleet(on, fleetFile(on, fleetWith(hooks)));
  const { job } = await fleet.trigger(manual);
  const runs = await ended(fleet, job.id);
  const shown = runs.map(({ type, status, attempts }) => `${type} ${status} ${attempts}`).sort();
  expect(shown).toEqual(["discord succeeded 2", "slack failed 1"]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_500);
  expect(slack.received).toHaveLength(1);
  const failed = runs.find(({ type }) => type === "slack");
  expect(failed).toMatchObject({ message: "answered 404", output: "no_service" });
  expect(await fleet.wait(job.id)).toMatchObject({ status: "completed" });
});

test("without `allow_private` nothing reaches a server of this machine", async () => {
  const on = await stage(mended);
  const inside = await receiver((response) => response.end());
  const hooks = ["discord", "slack", "webhook"].map(
    (type) => `  - { type: ${type}, url: "${inside.url}" }`,
  );
  const fleet = await startFleet(on, fleetFile(on, fleetWith(`after_run:\n${hooks.join("\n")}`)));
  const { job } = await fleet.trigger(manual);
  for (const { status, attempts, message } of await ended(fleet, job.id)) {
    expect({ status, attempts }).toEqual({ status: "failed", attempts: 1 });
    expect(message).toContain("private address");
  }
  expect(inside.received).toEqual([]);
});

describe("what could not be sent", () => {
  test.each(["kill", "stop"] as const)(
    "is sent by the next fleet, after a %s, under the same id and signed anew",
    async (how) => {
      const secret = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
      const own = await stage(mended);
      const on = { ...own, env: { ...own.env, HOOK_SECRET: secret } };
      let isUp = false;
      const other = await receiver((response) => response.writeHead(isUp ? 200 : 503).end());
      const retry = "retry: { max_attempts: 20, backoff: 200ms }";
      const more = `allow_private: true, secret_env: HOOK_SECRET, ${retry}`;
      const hooks = `after_run: [{ type: webhook, url: "${other.url}", ${more} }]`;
      const file = fleetFile(on, fleetWith(hooks));
      const first = await fleetProgram(on, file);
      const { job } = await first.control.trigger(manual);
      await until("two tries", async () => other.received.length >= 2);
      await first[how]();
      const before = other.received.length;
      isUp = true;

      const second = await fleetProgram(on, file);
      const [run] = await ended(second.control, job.id);
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
