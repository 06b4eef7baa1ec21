import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claudeBinary } from "../support/claude.ts";
import { startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import type { ChatStandIn } from "./chat-stand-in.ts";
import { discordStandIn } from "./discord-stand-in.ts";
import { slackStandIn } from "./slack-stand-in.ts";

const examples = resolve(import.meta.dirname, "../../examples");

type Env = Record<string, string>;
const cases: [name: string, open: () => Promise<[ChatStandIn, url: string, env: Env]>][] = [
  [
    "discord",
    async () => {
      const chat = await discordStandIn();
      const { token, world, url } = chat.discord;
      return [chat, url, { DISCORD_TOKEN: token, DISCORD_SERVER: world.guild.id }];
    },
  ],
  [
    "slack",
    async () => {
      const chat = await slackStandIn();
      const { token, appToken, url } = chat.slack;
      return [chat, url, { SLACK_BOT_TOKEN: token, SLACK_APP_TOKEN: appToken }];
    },
  ],
];

test.each(cases)(
  "the example %s answers, asks before it writes, and hands out a file",
  async (name, open) => {
    const [chat, url, tokens] = await open();
    onTestFinished(() => chat.stop());
    const write = { name: "Write", input: { file_path: "notes.md", content: "Two files.\n" } };
    const keep = { name: "mcp__herd__artifact", input: { path: "notes.md" } };
    const replies = [{ tools: [write] }, { tools: [keep] }, "The notes are attached."];
    const on = await stage({ script: { rules: [{ match: { prompt: "/notes/" }, replies }] } });
    const room = chat.channel("general");
    const folder = folderWith({});
    cpSync(join(examples, name), folder, { recursive: true });
    const file = join(folder, "herdctl.yaml");
    const here = `- path: agents/*.yaml\n    overrides: { chat: { ${name}: { base_url: "${url}" } } }`;
    const text = readFileSync(file, "utf8").replace("- path: agents/*.yaml", here);
    writeFileSync(file, `${text}claude_path: ${claudeBinary("325")}\n`);

    const people = { DISCORD_USER: chat.userId("ann"), SLACK_USER: chat.userId("ann") };
    const env = { ...on.env, ...tokens, ...people };
    const fleet = await startFleet({ ...on, env }, file, { chat: chat.platforms });
    await until("the chat", async () => (await fleet.chat())[0]?.state === "connected");
    chat.say(room, "ann", `${chat.mention} write notes on what is in here`);
    const asked = await until("the question", async () =>
      chat.posts(room).find(({ buttons }) => buttons.includes("Allow")),
    );
    expect(existsSync(join(folder, "notes.md"))).toBe(false);
    expect(await chat.press(room, asked.id, "Allow", "ann")).toBe("Allowed.");
    const files = () => chat.posts(room).flatMap((post) => post.files);
    await until("the file", async () => files().length > 0);
    expect(files()).toEqual([{ name: "notes.md", content: "Two files.\n" }]);
    expect(chat.posts(room)[0]?.text).toMatch(/^The notes are attached\.[\s\S]*\$\d.* job-/);
  },
);
