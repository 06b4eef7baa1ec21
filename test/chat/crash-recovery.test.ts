import type { Script } from "@herdctl/rehearsal";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { testSubset } from "../support/test-subset.ts";
import type { ChatStandIn } from "./chat-stand-in.ts";
import { startDiscordStandIn } from "./discord-stand-in.ts";
import { startSlackStandIn } from "./slack-stand-in.ts";

const platforms: [string, () => Promise<ChatStandIn>][] = [
  ["Discord", () => startDiscordStandIn()],
  ["Slack", () => startSlackStandIn()],
];

/** When in the life of a message the fleet is killed. */
const killMoments = [
  "as the message is sent",
  "during the first post",
  "as the model receives the request",
  "during the edit with the answer",
];

describe.each(testSubset(platforms, 1))("%s: fleet killed during a conversation", (_, open) => {
  test.each(killMoments)(
    "answers once when killed %s, and answers the next message",
    async (moment) => {
      const chat = await open();
      onTestFinished(() => chat.stop());
      const slow = { text: "Here I am.", delay: { first: "1s" } };
      const { on, here, file, room } = await startKillHarness(chat, { default: slow });
      const first = await startFleetProcess(here, file);
      await waitUntilConnected(first);

      const killed = new Promise<void>((done) => {
        const kill = () => void first.kill().then(done);
        if (moment === killMoments[1]) chat.loseNextAnswer("post", kill);
        if (moment === killMoments[3]) chat.loseNextAnswer("edit", kill);
        chat.say(room, "dora", "hello");
        if (moment === killMoments[0]) kill();
        if (moment === killMoments[2]) {
          void waitUntil(
            "the model to be asked",
            async () => on.rehearsal.ledger.main.length > 0,
          ).then(kill);
        }
      });
      await killed;

      const second = await startFleetProcess(here, file);
      const answers = () => chat.posts(room).filter(({ text }) => text === "Here I am.");
      await waitUntil("the answer", async () => answers().length > 0, 40_000);
      chat.say(room, "dora", "and again");
      await waitUntil("the second answer", async () => answers().length > 1, 40_000);
      await new Promise((done) => setTimeout(done, 1_000));
      expect(chat.posts(room).map(({ text }) => text)).toEqual(["Here I am.", "Here I am."]);
      const { jobs } = await second.control.jobs.list({ limit: 9 });
      expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed"]);
      await second.stop();
    },
  );

  test("answers each message once and in order through repeated kills", async () => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const numbers = [1, 2, 3, 4, 5, 6];
    const rules = numbers.map((n) => ({
      match: { prompt: `/number ${n}\\b/` },
      reply: { text: `answer ${n}`, delay: { first: "300ms" } },
    }));
    const { here, file, room } = await startKillHarness(chat, { rules });
    for (const n of numbers) {
      const fleet = await startFleetProcess(here, file);
      await waitUntilConnected(fleet);
      chat.say(room, "dora", `number ${n}`);
      await new Promise((done) => setTimeout(done, Math.random() * 1_500));
      await fleet.kill();
    }
    const last = await startFleetProcess(here, file);
    const texts = () => chat.posts(room).map(({ text }) => text);
    const wanted = numbers.map((n) => `answer ${n}`);
    await waitUntil(
      "all answers",
      async () => wanted.every((text) => texts().includes(text)),
      50_000,
    );
    expect(texts()).toEqual(wanted);
    const { jobs } = await last.control.jobs.list({ limit: 99 });
    expect(jobs.map(({ status }) => status)).toEqual(numbers.map(() => "completed"));
    await last.stop();
  }, 120_000);
});

async function startKillHarness(chat: ChatStandIn, script: Script) {
  const harness = await startHarness({ script });
  const room = chat.direct("dora");
  const lists = `direct_message_users: ["${chat.userId("dora")}"]`;
  const agent = `  - name: one\n    runtime: cli\n    chat: { ${chat.platform}: { ${chat.settings}, ${lists} } }`;
  return {
    on: harness,
    room,
    file: writeFleetFile(harness, agent),
    here: { ...harness, env: { ...harness.env, ...chat.env } },
  };
}

async function waitUntilConnected({ control }: FleetProcess): Promise<void> {
  await waitUntil(
    "it to be connected",
    async () => (await control.chat.connections())[0]?.state === "connected",
  );
}
