import { readFileSync, writeFileSync } from "node:fs";
import { discordStandIn } from "../chat/discord-stand-in.ts";
import { until } from "../support/fleet-program.ts";
import type { WhenOver } from "../support/folder.ts";
import { freePort, fromGithub, send } from "../webhooks/hook-stage.ts";
import { type Asked, patience } from "./keeper.ts";

export const triggerKinds = ["manual", "cron", "webhook", "chat"] as const;
export type TriggerKind = (typeof triggerKinds)[number];

/** One way to have the task done, made ready for one fleet. */
export interface Trigger {
  /** Lines of the agent, and of the fleet file. */
  agent: string[];
  fleet: string[];
  env: Record<string, string>;
  secrets: string[];
  /** Sends until it is acknowledged; gives the job that it was acknowledged with. */
  pull(keeper: Asked, files: readonly string[]): Promise<string>;
  /** Answers that were posted, where answers are. */
  posts?: () => string[];
}

export const task = "Do the work.";
const webhookSecret = "the-secret-of-the-webhook-of-this-test";

/** How each kind is made ready; what they need goes away when the case is over. */
export const prepare: Record<TriggerKind, (whenOver: WhenOver) => Promise<Trigger>> = {
  manual: async () => ({
    ...nothing,
    pull: (keeper) =>
      keeper.ask("the trigger to be taken", async (control) => {
        const request = { trigger: "manual" as const, agent: "one", prompt: task, key: "by-hand" };
        return (await control.trigger(request)).job.id;
      }),
  }),

  cron: async () => ({
    ...nothing,
    agent: ["    schedules: {} # planned later"],
    pull: async (keeper, files) => {
      await keeper.ask("the schedule to be known", async (control) => {
        const due = new Date((Math.ceil(Date.now() / 1_000) + 5) * 1_000);
        for (const file of files) {
          const text = readFileSync(file, "utf8");
          writeFileSync(file, text.replace(/schedules: .*/, `schedules: { s: ${cronAt(due)} }`));
        }
        await control.reload();
        const [view] = await control.schedules();
        if (view?.next[0] !== due.toISOString()) throw new Error("it came too late");
      });
      return keeper.ask("the job of the due time", async (control) => {
        const [job] = (await control.jobs({ limit: 1 })).jobs;
        if (!job) throw new Error("it is not there yet");
        return job.id;
      });
    },
  }),

  webhook: async () => {
    const port = await freePort();
    const proof = "signature: { kind: github, secret_env: SECRET }, from: { anyone: true }";
    const body = JSON.stringify({ action: "opened" });
    const headers = fromGithub(body, { id: "delivery-1", key: webhookSecret });
    return {
      ...nothing,
      agent: [`    schedules: { s: { type: webhook, ${proof}, prompt: "${task}" } }`],
      fleet: ["server: { port: ${HOOK_PORT} }"],
      env: { SECRET: webhookSecret, HOOK_PORT: String(port) },
      secrets: [webhookSecret],
      pull: () =>
        until(
          "the delivery to be taken",
          async () => {
            const url = `http://127.0.0.1:${port}/hooks/one/s`;
            const answer = await send(url, body, headers).catch(() => undefined);
            return answer?.status === 202 && String(answer.json.job);
          },
          patience,
        ),
    };
  },

  chat: async (whenOver) => {
    const chat = await discordStandIn();
    whenOver(() => chat.stop());
    const room = chat.direct("dora");
    const lists = `direct_messages: ["${chat.userId("dora")}"]`;
    return {
      ...nothing,
      agent: [`    chat: { discord: { ${chat.settings}, ${lists} } }`],
      env: chat.env,
      secrets: Object.values(chat.env),
      pull: async (keeper) => {
        await keeper.ask("it to be connected", async (control) => {
          if ((await control.chat())[0]?.state !== "connected") throw new Error("not yet");
        });
        chat.say(room, "dora", task);
        return keeper.ask("the job of the message", async (control) => {
          const [job] = (await control.jobs({ limit: 1 })).jobs;
          if (!job) throw new Error("it is not there yet");
          return job.id;
        });
      },
      posts: () => chat.posts(room).map(({ text }) => text),
    };
  },
};

const nothing = { agent: [], fleet: [], env: {}, secrets: [] };

/** Once, at this second; the next time is a year away. */
function cronAt(due: Date): string {
  const fields = [due.getUTCSeconds(), due.getUTCMinutes(), due.getUTCHours()];
  const day = [due.getUTCDate(), due.getUTCMonth() + 1];
  const cron = [...fields, ...day, "*"].join(" ");
  return `{ type: cron, cron: "${cron}", timezone: UTC, prompt: "${task}" }`;
}
