import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ChatStandIn } from "../chat/chat-stand-in.ts";
import { startDiscordStandIn } from "../chat/discord-stand-in.ts";
import { startSlackStandIn } from "../chat/slack-stand-in.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { runHerdctl } from "./run-herdctl.ts";

async function startChatFleet(chat: ChatStandIn, more = "") {
  onTestFinished(() => chat.stop());
  const harness = await startHarness();
  const block = `{ ${chat.settings}, users: ["*"] ${more} }`;
  const agents = `  - { name: one, chat: { ${chat.platform}: ${block} } }\n  - name: quiet`;
  const file = writeFleetFile(harness, agents);
  return { on: harness, file, at: { cwd: dirname(file), env: { ...harness.env, ...chat.env } } };
}

test.each([
  ["Discord", () => startDiscordStandIn(), "900000000000009999"],
  ["Slack", () => startSlackStandIn(), "C99999999"],
])(
  "checks everything in %s with `chat test` without posting a message",
  async (_, open, nowhere) => {
    const chat = await open();
    const room = chat.channel("general");
    const { at } = await startChatFleet(chat, `, channels: { "${room}": {}, "${nowhere}": {} }`);
    const run = await runHerdctl(["chat", "test", "one"], at);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/✓ .* token +Signed in as herd/);
    expect(run.stdout).toMatch(new RegExp(`✓ .*${room} +The (bot|app) can see general`));
    expect(run.stdout).toMatch(new RegExp(`✗ .*${nowhere}`));
    expect(chat.posts(room)).toEqual([]);

    const wrong = await runHerdctl(["chat", "test", "one", "--json"], {
      ...at,
      env: {
        ...at.env,
        ...Object.fromEntries(Object.keys(chat.env).map((name) => [name, "wrong"])),
      },
    });
    expect(JSON.parse(wrong.stdout)).toMatchObject({ ok: false, checks: [{ verdict: "failed" }] });
    const none = await runHerdctl(["chat", "test", "quiet"], at);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("has no chat configured");
  },
);

test("shows connections and problems with `chat status`", async () => {
  const { on, file, at } = await startChatFleet(await startDiscordStandIn());
  const fleet = await startFleetProcess({ ...on, env: at.env }, file);
  await waitUntil(
    "it to be connected",
    async () => (await fleet.control.chat.connections())[0]?.state === "connected",
  );
  const good = await runHerdctl(["chat", "status"], at);
  expect(good.stdout).toMatch(/✓ one · discord +connected, idle/);
  await fleet.stop();
  const gone = await runHerdctl(["chat", "status"], at);
  expect(gone.code).toBe(3);

  const { DISCORD_TOKEN: _, ...without } = at.env as Record<string, string>;
  const second = await startFleetProcess({ ...on, env: without }, file);
  await waitUntil("it to fail", async () => (await second.control.status()).fleet.problem);
  expect((await second.control.status()).fleet.problem).toContain("DISCORD_TOKEN is not set");
  const bad = await runHerdctl(["chat", "status"], at);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/✗ one · discord +failed: DISCORD_TOKEN is not set/);
  await second.stop();
});
