import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ChatStandIn } from "../chat/chat-stand-in.ts";
import { startDiscordStandIn } from "../chat/discord-stand-in.ts";
import { startSlackStandIn } from "../chat/slack-stand-in.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startRehearsedFleet } from "./rehearsed-fleet.ts";
import type { Example } from "./run-example.ts";

/** Examples with a chat: the real client libraries with stand-ins of the platforms. */
export const chatExamples: Record<string, (example: Example) => Promise<void>> = {
  discord: async (example) => {
    const chat = await startDiscordStandIn();
    const { token, world, url } = chat.discord;
    Object.assign(example.env, { DISCORD_TOKEN: token, DISCORD_SERVER: world.guild.id });
    example.env.DISCORD_USER = chat.userId("ann");
    await runColleague(example, chat, url);
  },
  slack: async (example) => {
    const chat = await startSlackStandIn();
    const { token, appToken, url } = chat.slack;
    Object.assign(example.env, { SLACK_BOT_TOKEN: token, SLACK_APP_TOKEN: appToken });
    example.env.SLACK_USER = chat.userId("ann");
    await runColleague(example, chat, url);
  },
};

/** Answers, asks before it writes, and returns a file. */
async function runColleague(example: Example, chat: ChatStandIn, url: string): Promise<void> {
  const { folder, onCleanup } = example;
  onCleanup(() => chat.stop());
  const room = chat.channel("general");
  const file = join(folder, "herdctl.yaml");
  const here = `overrides: { chat: { ${chat.platform}: { base_url: "${url}" } } }`;
  const pattern = "- path: agents/*.yaml";
  const text = readFileSync(file, "utf8").replace(pattern, `${pattern}\n    ${here}`);
  writeFileSync(file, text);

  const fleet = await startRehearsedFleet(example);
  await waitUntil(
    "the chat",
    async () => (await fleet.chat.connections())[0]?.state === "connected",
    60_000,
  );
  chat.say(room, "ann", `${chat.mention} write notes on what is in here`);
  const asked = await waitUntil(
    "the question",
    async () => chat.posts(room).find(({ buttons }) => buttons.includes("Allow once")),
    60_000,
  );
  expect(existsSync(join(folder, "notes.md"))).toBe(false);
  expect(await chat.press(room, asked.id, "Allow once", "ann")).toContain("Allowed");
  const files = () => chat.posts(room).flatMap((post) => post.files);
  await waitUntil("the file", async () => files().length > 0, 60_000);
  expect(files()).toEqual([{ name: "notes.md", content: "Two files.\n" }]);
  expect(chat.posts(room)[0]?.text).toMatch(/^The notes are attached\.[\s\S]*\$\d.* job-/);
}
