import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startDiscordStandIn } from "../chat/discord-stand-in.ts";
import { startSlackStandIn } from "../chat/slack-stand-in.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { startDockerHarness } from "../support/docker-harness.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { testSubset } from "../support/test-subset.ts";

const engine = await sharedEngine();

const platforms = [
  ["Discord", () => startDiscordStandIn()],
  ["Slack", () => startSlackStandIn()],
] as const;

describe.each(testSubset(platforms, 1))(
  "%s: chat attachments of an agent in a container",
  (_, open) => {
    test("gives the agent an attached image and posts its files", async () => {
      const chat = await open();
      onTestFinished(() => chat.stop());
      const look = "cp .herdctl-chat/*/image-1.png seen.png && echo drawn > drawing.svg";
      const replies = [
        { tools: [{ name: "Bash", input: { command: look } }] },
        { tools: [{ name: "mcp__herd__artifact", input: { path: "/workspace/drawing.svg" } }] },
        "Done.",
      ];
      const script = { rules: [{ match: { prompt: "/draw/" }, replies }] };
      const harness = await startDockerHarness(engine, { script });
      const room = chat.direct("dora");
      const block = `{ ${chat.settings}, direct_message_users: ["${chat.userId("dora")}"] }`;
      const agent = `  - name: one
    runtime: cli
    tools: [artifact]
    docker: { enabled: true }
    chat: { ${chat.platform}: ${block} }`;
      const here = { ...harness, env: { ...harness.env, ...chat.env } };
      const fleet = await startFleetInProcess(here, writeFleetFile(harness, agent), {
        chat: chat.platforms,
      });
      await waitUntil(
        "the chat",
        async () => (await fleet.chat.connections())[0]?.state === "connected",
      );
      const attachments = [{ name: "cat.png", type: "image/png", content: "PIXELS" }];
      chat.say(room, "dora", "draw this", { attachments });
      const files = () => chat.posts(room).flatMap((post) => post.files);
      await waitUntil("the file", async () => files().length > 0, 50_000);
      expect(files()).toEqual([{ name: "drawing.svg", content: "drawn\n" }]);
      expect(readFileSync(join(harness.workspace, "seen.png"), "utf8")).toBe("PIXELS");
      const [job] = (await fleet.jobs.list({ limit: 1 })).jobs;
      expect(job).toMatchObject({ session_home: "docker", outcome: { code: "success" } });
      await waitUntil("the image to be gone", async () =>
        readdirSync(harness.workspace).every((name) => !name.startsWith(".herdctl-chat")),
      );
    });
  },
);
