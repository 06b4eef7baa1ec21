import { describe, expect, test } from "vitest";
import { discordMessage, slackMessage } from "../../packages/core/src/hooks/chat-messages.ts";
import { createHookContext } from "../../packages/core/src/hooks/hook-attempt.ts";
import { finishedJob, outcomeOf } from "./finished-job.ts";

const run = {
  id: "hook-1",
  job_id: "job-1",
  agent: "one",
  event: "after_run" as const,
  cause: null,
  position: 0,
  type: "discord" as const,
  config_hash: "",
  status: "running" as const,
  attempts: 1,
  due_at: null,
  created_at: "2026-03-01T09:00:31.000Z",
  started_at: null,
  finished_at: null,
  message: null,
  output: null,
};
const contextWith = (changes: Parameters<typeof finishedJob>[0] = {}) =>
  createHookContext({ run, job: finishedJob(changes), fleet: "my-fleet", dashboardUrl: null });

const long = "@everyone <@123> <!channel> 🐑".repeat(5_000);
const hostile = contextWith({
  agent: "a".repeat(64),
  summary: long,
  status: "failed",
  outcome: { ...outcomeOf("timeout"), message: long },
});

type Embed = { title: string; description: string; fields: { name: string; value: string }[] };

describe("input of a hook", () => {
  test("passes the facts of the job but not its prompt", () => {
    const context = contextWith({ metadata: { price: 3 } });
    expect(context.job).toMatchObject({
      cost_usd: 0.5,
      metadata: { price: 3 },
      status: "completed",
    });
    expect(JSON.stringify(context)).not.toContain("do it");
  });
});

describe("a Discord message", () => {
  test("contains outcome, cost, duration and summary", () => {
    const text = JSON.stringify(discordMessage(contextWith(), "embed"));
    for (const part of ["success", "$0.50", "30.0 s", "All is done.", "job-2026-03-01-abc"]) {
      expect(text).toContain(part);
    }
  });

  test("stays within Discord's limits and mentions no one", () => {
    const { embeds, allowed_mentions } = discordMessage(hostile, "embed") as {
      embeds: Embed[];
      allowed_mentions: object;
    };
    const [embed] = embeds;
    if (!embed) throw new Error("no embed");
    expect(allowed_mentions).toEqual({ parse: [] });
    expect(embed.title.length).toBeLessThanOrEqual(256);
    expect(embed.description.length).toBeLessThanOrEqual(4096);
    for (const { value } of embed.fields) expect(value.length).toBeLessThanOrEqual(1024);
    const all = embed.fields.flatMap(({ name, value }) => [name, value]);
    expect([embed.title, embed.description, ...all].join("").length).toBeLessThanOrEqual(6000);
    expect(JSON.stringify(embed)).not.toMatch(/@(everyone|123)/);

    const plain = discordMessage(hostile, "text") as { content: string };
    expect(plain.content.length).toBeLessThanOrEqual(2000);
    expect(plain.content).not.toContain("@everyone");
    expect(plain).toMatchObject({ allowed_mentions: { parse: [] } });
  });

  test("never splits a character", () => {
    for (let most = 0; most < 4; most++) {
      const summary = `${"x".repeat(3_995 + most)}🐑🐑🐑`;
      expect(JSON.stringify(discordMessage(contextWith({ summary }), "embed"))).not.toMatch(
        /\\ud[89ab]/i,
      );
    }
  });
});

describe("a Slack message", () => {
  test("contains outcome, cost, duration and summary", () => {
    for (const format of ["embed", "text"] as const) {
      const text = JSON.stringify(slackMessage(contextWith(), format));
      for (const part of ["success", "$0.50", "30.0 s", "All is done."])
        expect(text).toContain(part);
    }
  });

  test("stays within Slack's limits, mentions no one and unfurls no link", () => {
    const message = slackMessage(hostile, "embed") as {
      attachments: {
        blocks: { type: string; text?: { text: string }; fields?: { text: string }[] }[];
      }[];
    };
    const blocks = message.attachments.flatMap((one) => one.blocks);
    for (const { type, text, fields } of blocks) {
      if (text) expect(text.text.length).toBeLessThanOrEqual(type === "header" ? 150 : 3000);
      for (const field of fields ?? []) expect(field.text.length).toBeLessThanOrEqual(2000);
    }
    expect(message).toMatchObject({ unfurl_links: false, unfurl_media: false });

    const { text } = slackMessage(hostile, "text") as { text: string };
    expect(text.length).toBeLessThanOrEqual(40_000);
    for (const sent of [text, JSON.stringify(message)]) expect(sent).not.toMatch(/@(everyone|123)/);
    expect(text).not.toMatch(/[<>]/);
  });
});
