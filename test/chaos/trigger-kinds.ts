import { readFileSync, writeFileSync } from "node:fs";
import { startDiscordStandIn } from "../chat/discord-stand-in.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import { freePort, githubHeaders, sendWebhook } from "../webhooks/webhook-harness.ts";
import { askTimeoutMs, type FleetQuestioner } from "./fleet-supervisor.ts";

export const triggerKinds = ["manual", "cron", "webhook", "chat"] as const;
export type TriggerKind = (typeof triggerKinds)[number];

/** One way to trigger the task, prepared for one fleet. */
export interface PreparedTrigger {
  /** YAML lines for the agent and for the fleet file. */
  agent: string[];
  fleet: string[];
  env: Record<string, string>;
  secrets: string[];
  /** Sends until it is acknowledged, and returns the acknowledged job. */
  fire(keeper: FleetQuestioner, files: readonly string[]): Promise<string>;
  /** The posted answers, for kinds that post. */
  readPosts?: () => string[];
}

export const taskPrompt = "Do the work.";
const webhookSecret = "the-secret-of-the-webhook-of-this-test";

/** Prepares each kind of trigger; cleanup runs when the case ends. */
export const prepareTrigger: Record<
  TriggerKind,
  (onCleanup: RegisterCleanup) => Promise<PreparedTrigger>
> = {
  manual: async () => ({
    ...emptyTrigger,
    fire: (keeper) =>
      keeper.ask("the trigger to be taken", async (control) => {
        const request = {
          agent: "one",
          prompt: taskPrompt,
          key: "by-hand",
        };
        return (await control.jobs.trigger(request)).job.id;
      }),
  }),

  cron: async () => ({
    ...emptyTrigger,
    agent: ["    schedules: {} # planned later"],
    fire: async (keeper, files) => {
      await keeper.ask("the schedule to be known", async (control) => {
        const due = new Date((Math.ceil(Date.now() / 1_000) + 5) * 1_000);
        for (const file of files) {
          const text = readFileSync(file, "utf8");
          writeFileSync(file, text.replace(/schedules: .*/, `schedules: { s: ${cronAt(due)} }`));
        }
        await control.reload();
        const [view] = await control.schedules.list();
        if (view?.next[0] !== due.toISOString()) throw new Error("it came too late");
      });
      return keeper.ask("the job of the due time", async (control) => {
        const [job] = (await control.jobs.list({ limit: 1 })).jobs;
        if (!job) throw new Error("it is not there yet");
        return job.id;
      });
    },
  }),

  webhook: async () => {
    const port = await freePort();
    const signatureYaml =
      "signature: { kind: github, secret_env: SECRET }, allowed_senders: { anyone: true }";
    const body = JSON.stringify({ action: "opened" });
    const headers = githubHeaders(body, { id: "delivery-1", key: webhookSecret });
    return {
      ...emptyTrigger,
      agent: [`    schedules: { s: { type: webhook, ${signatureYaml}, prompt: "${taskPrompt}" } }`],
      fleet: ["server: { port: ${HOOK_PORT} }"],
      env: { SECRET: webhookSecret, HOOK_PORT: String(port) },
      secrets: [webhookSecret],
      fire: () =>
        waitUntil(
          "the delivery to be taken",
          async () => {
            const url = `http://127.0.0.1:${port}/hooks/one/s`;
            const answer = await sendWebhook(url, body, headers).catch(() => undefined);
            return answer?.status === 202 && String(answer.json.job);
          },
          askTimeoutMs,
        ),
    };
  },

  chat: async (onCleanup) => {
    const chat = await startDiscordStandIn();
    onCleanup(() => chat.stop());
    const room = chat.direct("dora");
    const lists = `direct_message_users: ["${chat.userId("dora")}"]`;
    return {
      ...emptyTrigger,
      agent: [`    chat: { discord: { ${chat.settings}, ${lists} } }`],
      env: chat.env,
      secrets: Object.values(chat.env),
      fire: async (keeper) => {
        await keeper.ask("it to be connected", async (control) => {
          if ((await control.chat.connections())[0]?.state !== "connected")
            throw new Error("not yet");
        });
        chat.say(room, "dora", taskPrompt);
        return keeper.ask("the job of the message", async (control) => {
          const [job] = (await control.jobs.list({ limit: 1 })).jobs;
          if (!job) throw new Error("it is not there yet");
          return job.id;
        });
      },
      readPosts: () => chat.posts(room).map(({ text }) => text),
    };
  },
};

const emptyTrigger = { agent: [], fleet: [], env: {}, secrets: [] };

/** A cron expression for this second; the next match is a year away. */
function cronAt(due: Date): string {
  const fields = [due.getUTCSeconds(), due.getUTCMinutes(), due.getUTCHours()];
  const day = [due.getUTCDate(), due.getUTCMonth() + 1];
  const cron = [...fields, ...day, "*"].join(" ");
  return `{ type: cron, cron: "${cron}", timezone: UTC, prompt: "${taskPrompt}" }`;
}
