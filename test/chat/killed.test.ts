import type { Script } from "@herdctl/rehearsal";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";
import type { ChatStandIn } from "./chat-stand-in.ts";
import { discordStandIn } from "./discord-stand-in.ts";
import { slackStandIn } from "./slack-stand-in.ts";

const platforms: [string, () => Promise<ChatStandIn>][] = [
  ["Discord", () => discordStandIn()],
  ["Slack", () => slackStandIn()],
];

/** Where in the life of a message the fleet is killed. */
const moments = [
  "as it is said",
  "as the first sign is posted",
  "as the model is asked",
  "as the answer is written",
];

describe.each(sliceOf(platforms, 1))("%s: the fleet is killed", (_, open) => {
  test.each(moments)("%s: one answer, and the next message has one too", async (moment) => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const slow = { text: "Here I am.", delay: { first: "1s" } };
    const { on, here, file, room } = await killStage(chat, { default: slow });
    const first = await fleetProgram(here, file);
    await connected(first);

    const killed = new Promise<void>((done) => {
      const kill = () => void first.kill().then(done);
      if (moment === moments[1]) chat.loseNextAnswer("post", kill);
      if (moment === moments[3]) chat.loseNextAnswer("edit", kill);
      chat.say(room, "dora", "hello");
      if (moment === moments[0]) kill();
      if (moment === moments[2]) {
        void until("the model to be asked", async () => on.rehearsal.ledger.main.length > 0).then(
          kill,
        );
      }
    });
    await killed;

    const second = await fleetProgram(here, file);
    const answers = () => chat.posts(room).filter(({ text }) => text === "Here I am.");
    await until("the answer", async () => answers().length > 0, 40_000);
    chat.say(room, "dora", "and again");
    await until("the second answer", async () => answers().length > 1, 40_000);
    await new Promise((done) => setTimeout(done, 1_000));
    expect(chat.posts(room).map(({ text }) => text)).toEqual(["Here I am.", "Here I am."]);
    const { jobs } = await second.control.jobs({ limit: 9 });
    expect(jobs.map(({ status }) => status)).toEqual(["completed", "completed"]);
    await second.stop();
  });

  test("at any time, again and again: each message has its one answer, in their order", async () => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const numbers = [1, 2, 3, 4, 5, 6];
    const rules = numbers.map((n) => ({
      match: { prompt: `/number ${n}\\b/` },
      reply: { text: `answer ${n}`, delay: { first: "300ms" } },
    }));
    const { here, file, room } = await killStage(chat, { rules });
    for (const n of numbers) {
      const fleet = await fleetProgram(here, file);
      await connected(fleet);
      chat.say(room, "dora", `number ${n}`);
      await new Promise((done) => setTimeout(done, Math.random() * 1_500));
      await fleet.kill();
    }
    const last = await fleetProgram(here, file);
    const texts = () => chat.posts(room).map(({ text }) => text);
    const wanted = numbers.map((n) => `answer ${n}`);
    await until("all answers", async () => wanted.every((text) => texts().includes(text)), 50_000);
    expect(texts()).toEqual(wanted);
    const { jobs } = await last.control.jobs({ limit: 99 });
    expect(jobs.map(({ status }) => status)).toEqual(numbers.map(() => "completed"));
    await last.stop();
  }, 120_000);
});

async function killStage(chat: ChatStandIn, script: Script) {
  const on = await stage({ script });
  const room = chat.direct("dora");
  const lists = `direct_messages: ["${chat.userId("dora")}"]`;
  const agent = `  - name: one\n    runtime: cli\n    chat: { ${chat.platform}: { ${chat.settings}, ${lists} } }`;
  return { on, room, file: fleetFile(on, agent), here: { ...on, env: { ...on.env, ...chat.env } } };
}

async function connected({ control }: FleetProgram): Promise<void> {
  await until("it to be connected", async () => (await control.chat())[0]?.state === "connected");
}
