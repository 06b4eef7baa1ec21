import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { discordStandIn } from "./discord-stand-in.ts";

const messageContent = 1 << 15;

async function discordStage(options: Parameters<typeof discordStandIn>[0] = {}, token?: string) {
  const chat = await discordStandIn(options);
  onTestFinished(() => chat.stop());
  const on = await stage({ script: { default: "Good morning." } });
  const room = chat.channel("general");
  chat.discord.world.user("rob", ["770000000000000001"]);
  const block = `{ ${chat.settings}, roles: ["770000000000000001"] }`;
  const file = fleetFile(on, `  - name: one\n    runtime: cli\n    chat: { discord: ${block} }`);
  const env = { ...on.env, ...chat.env, ...(token && { DISCORD_TOKEN: token }) };
  const fleet = await startFleet({ ...on, env }, file, { chat: chat.platforms });
  const state = (wanted: string) =>
    until(`the link to be ${wanted}`, async () => {
      const [link] = await fleet.chat();
      return link?.state === wanted && link;
    });
  return { chat, room, fleet, state };
}

test("a wrong token is told with what to do, and stops nothing else", async () => {
  const { fleet, state } = await discordStage({}, "wrong");
  expect((await state("failed")).problem).toContain("does not know this token");
  const { fleet: now } = await fleet.status();
  expect(now).toMatchObject({ state: "running" });
  expect(now.problem).toContain("one in discord");
});

test("a missing intent is told by its name", async () => {
  const { state } = await discordStage({ withheldIntents: messageContent });
  expect((await state("failed")).problem).toContain("Message Content Intent");
});

test("a listed role is heard, commands are registered, and presence shows the work", async () => {
  const { chat, room, state } = await discordStage();
  await state("connected");
  const { rest, gateway } = chat.discord;
  const names = rest.commands.map((one) => (one as { name: string }).name);
  expect(names).toEqual(["help", "reset", "status", "stop", "jobs", "resume", "run", "cost"]);
  chat.say(room, "rob", "@herd hello");
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  expect(rest.typing).toContain(room);
  await until("idle after work", async () => {
    const { presences } = gateway;
    return presences.includes("online") && presences.at(-1) === "idle";
  });
});

test("where it may not write nothing is begun, the status says why, and it goes on elsewhere", async () => {
  const { chat, room, fleet, state } = await discordStage();
  await state("connected");
  chat.discord.rest.forbidden.add(room);
  chat.say(room, "rob", "@herd hello");
  const problem = await until("the problem", async () => (await fleet.chat())[0]?.problem);
  expect(problem).toContain("`Send Messages`");
  expect((await fleet.jobs({ limit: 1 })).jobs).toEqual([]);
  chat.discord.rest.forbidden.delete(room);
  chat.say(room, "rob", "@herd and now?");
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  expect(chat.posts(room)).toHaveLength(1);
  await until("all to be well", async () => (await fleet.chat())[0]?.problem === null);
});

test("heartbeats are kept up, a dropped line is resumed, a lost session begun anew", async () => {
  const { chat, room, state } = await discordStage({ heartbeat: 300 });
  await state("connected");
  const { gateway } = chat.discord;
  await until("heartbeats", async () => gateway.heartbeats > 3);
  gateway.drop();
  await until("the session to be resumed", async () => gateway.resumes === 1, 40_000);
  expect(gateway.identifies).toBe(1);
  gateway.forget();
  gateway.drop();
  chat.say(room, "rob", "@herd said while nobody listened");
  await until("a new session", async () => gateway.identifies === 2, 40_000);
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  expect(chat.posts(room)).toHaveLength(1);
});

test("a rate limit is waited for, and every part comes", async () => {
  const { chat, room, state } = await discordStage({ limit: { requests: 1, milliseconds: 1_500 } });
  await state("connected");
  for (const n of [1, 2, 3]) chat.say(room, "rob", `@herd ${n}`);
  await until(
    "all answers",
    async () => chat.posts(room).filter((p) => p.text === "Good morning.").length === 3,
    40_000,
  );
  expect(chat.posts(room)).toHaveLength(3);
});

test("a reload brings an agent into a chat, and takes it out again", async () => {
  const chat = await discordStandIn();
  onTestFinished(() => chat.stop());
  const on = await stage({ script: { default: "Good morning." } });
  const room = chat.direct("dora");
  const block = `{ ${chat.settings}, direct_messages: ["${chat.userId("dora")}"] }`;
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const without = readFileSync(file, "utf8");
  const here = { ...on, env: { ...on.env, ...chat.env } };
  const fleet = await startFleet(here, file, { chat: chat.platforms });
  expect(await fleet.chat()).toEqual([]);
  writeFileSync(file, without.replace("runtime: cli", `runtime: cli, chat: { discord: ${block} }`));
  await fleet.reload();
  await until("it to be there", async () => (await fleet.chat())[0]?.state === "connected");
  chat.say(room, "dora", "hello");
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  writeFileSync(file, without);
  await fleet.reload();
  await until("it to be gone", async () => (await fleet.chat()).length === 0);
  await until("the line to be closed", async () => chat.discord.gateway.connected === 0);
});
