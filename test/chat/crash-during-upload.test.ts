import { describe, expect, onTestFinished, test } from "vitest";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { testSubset } from "../support/test-subset.ts";
import { startDiscordStandIn } from "./discord-stand-in.ts";
import { startSlackStandIn } from "./slack-stand-in.ts";

const platforms = [
  ["Slack", () => startSlackStandIn()],
  ["Discord", () => startDiscordStandIn()],
] as const;

describe.each(testSubset(platforms, 1))("%s: fleet killed during an upload", (_, open) => {
  test("posts the file once, and the next one too", async () => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const bash = { name: "Bash", input: { command: "echo 1 > one.txt; echo 2 > two.txt" } };
    const keep = (path: string) => ({ tools: [{ name: "mcp__herd__artifact", input: { path } }] });
    const replies = [{ tools: [bash] }, keep("one.txt"), keep("two.txt"), "Here they are."];
    const harness = await startHarness({
      script: { rules: [{ match: { prompt: "/files/" }, replies }] },
    });
    const room = chat.direct("dora");
    const block = `{ ${chat.settings}, direct_message_users: ["${chat.userId("dora")}"] }`;
    const agent = `  - { name: one, runtime: cli, tools: [artifact], chat: { ${chat.platform}: ${block} } }`;
    const file = writeFleetFile(harness, agent);
    const here = { ...harness, env: { ...harness.env, ...chat.env } };
    const first = await startFleetProcess(here, file);
    await waitUntil(
      "the chat",
      async () => (await first.control.chat.connections())[0]?.state === "connected",
    );
    const killed = new Promise<void>((done) => {
      chat.loseNextAnswer("file", () => void first.kill().then(done));
    });
    chat.say(room, "dora", "files, please");
    await killed;

    const second = await startFleetProcess(here, file);
    const names = () => chat.posts(room).flatMap((post) => post.files.map(({ name }) => name));
    await waitUntil("both files", async () => names().includes("two.txt"), 40_000);
    await waitUntil(
      "it to be idle",
      async () => (await second.control.chat.connections())[0]?.active_conversations === 0,
    );
    expect(names()).toEqual(["one.txt", "two.txt"]);
    expect(chat.posts(room)[0]?.text).toContain("Here they are.");
    expect((await second.control.jobs.list({ limit: 9 })).jobs).toHaveLength(1);
    await second.stop();
  });
});
