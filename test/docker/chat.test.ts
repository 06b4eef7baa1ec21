import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { discordStandIn } from "../chat/discord-stand-in.ts";
import { slackStandIn } from "../chat/slack-stand-in.ts";
import { dockerStage } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { sliceOf } from "../support/width.ts";

const engine = await testEngine();

const platforms = [
  ["Discord", () => discordStandIn()],
  ["Slack", () => slackStandIn()],
] as const;

describe.each(sliceOf(platforms, 1))("%s: an agent in a container", (_, open) => {
  test("is given the image that came along, and its own files reach the chat", async () => {
    const chat = await open();
    onTestFinished(() => chat.stop());
    const look = "cp .herdctl-chat/*/image-1.png seen.png && echo drawn > drawing.svg";
    const replies = [
      { tools: [{ name: "Bash", input: { command: look } }] },
      { tools: [{ name: "mcp__herd__artifact", input: { path: "/workspace/drawing.svg" } }] },
      "Done.",
    ];
    const script = { rules: [{ match: { prompt: "/draw/" }, replies }] };
    const on = await dockerStage(engine, { script });
    const room = chat.direct("dora");
    const block = `{ ${chat.settings}, direct_messages: ["${chat.userId("dora")}"] }`;
    const agent = `  - name: one
    runtime: cli
    tools: [artifact]
    docker: { enabled: true }
    chat: { ${chat.platform}: ${block} }`;
    const here = { ...on, env: { ...on.env, ...chat.env } };
    const fleet = await startFleet(here, fleetFile(on, agent), { chat: chat.platforms });
    await until("the chat", async () => (await fleet.chat())[0]?.state === "connected");
    const attachments = [{ name: "cat.png", type: "image/png", content: "PIXELS" }];
    chat.say(room, "dora", "draw this", { attachments });
    const files = () => chat.posts(room).flatMap((post) => post.files);
    await until("the file", async () => files().length > 0, 50_000);
    expect(files()).toEqual([{ name: "drawing.svg", content: "drawn\n" }]);
    expect(readFileSync(join(on.workspace, "seen.png"), "utf8")).toBe("PIXELS");
    const [job] = (await fleet.jobs({ limit: 1 })).jobs;
    expect(job).toMatchObject({ place: "docker", outcome: { code: "success" } });
    await until("the image to be gone", async () =>
      readdirSync(on.workspace).every((name) => !name.startsWith(".herdctl-chat")),
    );
  });
});
