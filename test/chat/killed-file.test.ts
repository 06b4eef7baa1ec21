import { describe, expect, onTestFinished, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";
import { discordStandIn } from "./discord-stand-in.ts";
import { slackStandIn } from "./slack-stand-in.ts";

const platforms = [
  ["Slack", () => slackStandIn()],
  ["Discord", () => discordStandIn()],
] as const;

describe.each(sliceOf(platforms, 1))("%s: the fleet is killed", (_, open) => {
  test("as a file of the agent's is posted: it is there once, and so is the next", async () => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const bash = { name: "Bash", input: { command: "echo 1 > one.txt; echo 2 > two.txt" } };
    const keep = (path: string) => ({ tools: [{ name: "mcp__herd__artifact", input: { path } }] });
    const replies = [{ tools: [bash] }, keep("one.txt"), keep("two.txt"), "Here they are."];
    const on = await stage({ script: { rules: [{ match: { prompt: "/files/" }, replies }] } });
    const room = chat.direct("dora");
    const block = `{ ${chat.settings}, direct_messages: ["${chat.userId("dora")}"] }`;
    const agent = `  - { name: one, runtime: cli, tools: [artifact], chat: { ${chat.platform}: ${block} } }`;
    const file = fleetFile(on, agent);
    const here = { ...on, env: { ...on.env, ...chat.env } };
    const first = await fleetProgram(here, file);
    await until("the chat", async () => (await first.control.chat())[0]?.state === "connected");
    const killed = new Promise<void>((done) => {
      chat.loseNextAnswer("file", () => void first.kill().then(done));
    });
    chat.say(room, "dora", "files, please");
    await killed;

    const second = await fleetProgram(here, file);
    const names = () => chat.posts(room).flatMap((post) => post.files.map(({ name }) => name));
    await until("both files", async () => names().includes("two.txt"), 40_000);
    await until("it to be idle", async () => (await second.control.chat())[0]?.working === 0);
    expect(names()).toEqual(["one.txt", "two.txt"]);
    expect(chat.posts(room)[0]?.text).toContain("Here they are.");
    expect((await second.control.jobs({ limit: 9 })).jobs).toHaveLength(1);
    await second.stop();
  });
});
