import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { startDiscordStandIn } from "./discord-stand-in.ts";

const messageContent = 1 << 15;

async function startDiscordHarness(
  options: Parameters<typeof startDiscordStandIn>[0] = {},
  token?: string,
) {
  const chat = await startDiscordStandIn(options);
  onTestFinished(() => chat.stop());
  const harness = await startHarness({ script: { default: "Good morning." } });
  const room = chat.channel("general");
  chat.discord.world.user("rob", ["770000000000000001"]);
  const block = `{ ${chat.settings}, roles: ["770000000000000001"] }`;
  const file = writeFleetFile(
    harness,
    `  - name: one\n    runtime: cli\n    chat: { discord: ${block} }`,
  );
  const env = { ...harness.env, ...chat.env, ...(token && { DISCORD_TOKEN: token }) };
  const fleet = await startFleetInProcess({ ...harness, env }, file, { chat: chat.platforms });
  const state = (wanted: string) =>
    waitUntil(`the link to be ${wanted}`, async () => {
      const [link] = await fleet.chat.connections();
      return link?.state === wanted && link;
    });
  return { chat, room, fleet, state };
}

test("reports a wrong token with a hint and keeps everything else running", async () => {
  const { fleet, state } = await startDiscordHarness({}, "wrong");
  expect((await state("failed")).problem).toContain("rejected the bot token");
  const { fleet: now } = await fleet.status();
  expect(now).toMatchObject({ state: "running" });
  expect(now.problem).toContain("one in discord");
});

test("names a missing intent", async () => {
  const { state } = await startDiscordHarness({ deniedIntents: messageContent });
  expect((await state("failed")).problem).toContain("Message Content Intent");
});

test("accepts a listed role, registers commands and shows presence", async () => {
  const { chat, room, state } = await startDiscordHarness();
  await state("connected");
  const { rest, gateway } = chat.discord;
  const names = rest.commands.map((one) => (one as { name: string }).name);
  expect(names).toEqual(["help", "reset", "status", "stop", "jobs", "resume", "run", "cost"]);
  chat.say(room, "rob", "@herd hello");
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  expect(rest.typing).toContain(room);
  await waitUntil("idle after work", async () => {
    const { presences } = gateway;
    return presences.includes("online") && presences.at(-1) === "idle";
  });
});

test("starts no job where it may not write, reports why, and continues elsewhere", async () => {
  const { chat, room, fleet, state } = await startDiscordHarness();
  await state("connected");
  chat.discord.rest.readOnlyChannels.add(room);
  chat.say(room, "rob", "@herd hello");
  const problem = await waitUntil(
    "the problem",
    async () => (await fleet.chat.connections())[0]?.problem,
  );
  expect(problem).toContain("`Send Messages`");
  expect((await fleet.jobs.list({ limit: 1 })).jobs).toEqual([]);
  chat.discord.rest.readOnlyChannels.delete(room);
  chat.say(room, "rob", "@herd and now?");
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  expect(chat.posts(room)).toHaveLength(1);
  await waitUntil(
    "the problem to be cleared",
    async () => (await fleet.chat.connections())[0]?.problem === null,
  );
});

test("sends heartbeats, resumes a lost connection and replaces a lost session", async () => {
  const { chat, room, state } = await startDiscordHarness({ heartbeatIntervalMs: 300 });
  await state("connected");
  const { gateway } = chat.discord;
  await waitUntil("heartbeats", async () => gateway.heartbeats > 3);
  gateway.disconnectAll();
  await waitUntil("the session to be resumed", async () => gateway.resumes === 1, 40_000);
  expect(gateway.identifies).toBe(1);
  gateway.invalidateSessions();
  gateway.disconnectAll();
  chat.say(room, "rob", "@herd said while nobody listened");
  await waitUntil("a new session", async () => gateway.identifies === 2, 40_000);
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  expect(chat.posts(room)).toHaveLength(1);
});

test("waits for a rate limit and posts every part", async () => {
  const { chat, room, state } = await startDiscordHarness({
    rateLimit: { maxRequests: 1, windowMs: 1_500 },
  });
  await state("connected");
  for (const n of [1, 2, 3]) chat.say(room, "rob", `@herd ${n}`);
  await waitUntil(
    "all answers",
    async () => chat.posts(room).filter((p) => p.text === "Good morning.").length === 3,
    40_000,
  );
  expect(chat.posts(room)).toHaveLength(3);
});

test("connects an agent to a chat on reload and disconnects it again", async () => {
  const chat = await startDiscordStandIn();
  onTestFinished(() => chat.stop());
  const harness = await startHarness({ script: { default: "Good morning." } });
  const room = chat.direct("dora");
  const block = `{ ${chat.settings}, direct_message_users: ["${chat.userId("dora")}"] }`;
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const without = readFileSync(file, "utf8");
  const here = { ...harness, env: { ...harness.env, ...chat.env } };
  const fleet = await startFleetInProcess(here, file, { chat: chat.platforms });
  expect(await fleet.chat.connections()).toEqual([]);
  writeFileSync(file, without.replace("runtime: cli", `runtime: cli, chat: { discord: ${block} }`));
  await fleet.reload();
  await waitUntil(
    "it to be there",
    async () => (await fleet.chat.connections())[0]?.state === "connected",
  );
  chat.say(room, "dora", "hello");
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  writeFileSync(file, without);
  await fleet.reload();
  await waitUntil("it to be gone", async () => (await fleet.chat.connections()).length === 0);
  await waitUntil(
    "the connection to be closed",
    async () => chat.discord.gateway.connectionCount === 0,
  );
});
