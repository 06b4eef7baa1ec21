import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ChatStandIn } from "../chat/chat-stand-in.ts";
import { discordStandIn } from "../chat/discord-stand-in.ts";
import { slackStandIn } from "../chat/slack-stand-in.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { herdctl } from "./herdctl.ts";

async function chatFleet(chat: ChatStandIn, more = "") {
  onTestFinished(() => chat.stop());
  const on = await stage();
  const block = `{ ${chat.settings}, users: ["*"] ${more} }`;
  const agents = `  - { name: one, chat: { ${chat.platform}: ${block} } }\n  - name: quiet`;
  const file = fleetFile(on, agents);
  return { on, file, at: { cwd: dirname(file), env: { ...on.env, ...chat.env } } };
}

test.each([
  ["Discord", () => discordStandIn(), "900000000000009999"],
  ["Slack", () => slackStandIn(), "C99999999"],
])("`chat test` checks everything in %s and says nothing there", async (_, open, nowhere) => {
  const chat = await open();
  const room = chat.channel("general");
  const { at } = await chatFleet(chat, `, channels: { "${room}": {}, "${nowhere}": {} }`);
  const run = await herdctl(["chat", "test", "one"], at);
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/✓ .* token +It is herd/);
  expect(run.stdout).toMatch(new RegExp(`✓ .*${room} +It sees general`));
  expect(run.stdout).toMatch(new RegExp(`✗ .*${nowhere}`));
  expect(chat.posts(room)).toEqual([]);

  const wrong = await herdctl(["chat", "test", "one", "--json"], {
    ...at,
    env: { ...at.env, ...Object.fromEntries(Object.keys(chat.env).map((name) => [name, "wrong"])) },
  });
  expect(JSON.parse(wrong.stdout)).toMatchObject({ ok: false, checks: [{ verdict: "failed" }] });
  const none = await herdctl(["chat", "test", "quiet"], at);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain("is in no chat");
});

test("`chat status` shows who is connected, and what is wrong", async () => {
  const { on, file, at } = await chatFleet(await discordStandIn());
  const fleet = await fleetProgram({ ...on, env: at.env }, file);
  await until(
    "it to be connected",
    async () => (await fleet.control.chat())[0]?.state === "connected",
  );
  const good = await herdctl(["chat", "status"], at);
  expect(good.stdout).toMatch(/✓ one · discord +connected, idle/);
  await fleet.stop();
  const gone = await herdctl(["chat", "status"], at);
  expect(gone.code).toBe(3);

  const { DISCORD_TOKEN: _, ...without } = at.env as Record<string, string>;
  const second = await fleetProgram({ ...on, env: without }, file);
  await until("it to fail", async () => (await second.control.status()).fleet.problem);
  expect((await second.control.status()).fleet.problem).toContain("DISCORD_TOKEN is not set");
  const bad = await herdctl(["chat", "status"], at);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/✗ one · discord +failed: DISCORD_TOKEN is not set/);
  await second.stop();
});
