import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { timestampOf } from "../../packages/slack/src/incoming-message.ts";
import { toMrkdwn } from "../../packages/slack/src/mrkdwn.ts";
import { listableRoomTypes, requiredScopes } from "../../packages/slack/src/scopes.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { waitForQuiet } from "./chat-harness.ts";
import { startSlackStandIn } from "./slack-stand-in.ts";

async function startSlackHarness(
  options: Parameters<typeof startSlackStandIn>[0] = {},
  env: Record<string, string> = {},
  agents = ["one"],
  direct: string[][] = [],
) {
  const chat = await startSlackStandIn(options);
  onTestFinished(() => chat.stop());
  const harness = await startHarness({ script: { default: "Good morning." } });
  const rooms = agents.map((name) => chat.channel(name));
  const yaml = agents.map((name, index) => {
    const people = (direct[index] ?? []).map((one) => `"${chat.userId(one)}"`).join(", ");
    const lists = `users: ["${chat.userId("ann")}"], channels: { ${rooms[index]}: {} }, direct_message_users: [${people}], approvers: []`;
    return `  - name: ${name}\n    runtime: cli\n    chat: { slack: { ${chat.settings}, ${lists} } }`;
  });
  const all = { ...harness, env: { ...harness.env, ...chat.env, ...env } };
  const fleet = await startFleetInProcess(all, writeFleetFile(harness, yaml.join("\n")), {
    chat: chat.platforms,
  });
  const state = (wanted: string) =>
    waitUntil(`the links to be ${wanted}`, async () => {
      const links = await fleet.chat.connections();
      return links.length === agents.length && links.every((one) => one.state === wanted) && links;
    });
  return { chat, rooms, fleet, state };
}

test("reports a wrong token and a wrong app-level token with a hint", async () => {
  for (const name of ["SLACK_TOKEN", "SLACK_APP_TOKEN"]) {
    const { state } = await startSlackHarness({}, { [name]: "wrong" });
    expect((await state("failed"))[0]?.problem).toContain("rejected the token");
  }
});

test("names a missing scope", async () => {
  const scopes = ["users:read", "channels:history"];
  const { chat, rooms, fleet, state } = await startSlackHarness({ scopes });
  await state("connected");
  chat.say(rooms[0] ?? "", "ann", "@herd hello");
  const problem = await waitUntil(
    "the problem",
    async () => (await fleet.chat.connections())[0]?.problem,
  );
  expect(problem).toContain("`chat:write`");
  expect(chat.posts(rooms[0] ?? "")).toEqual([]);
});

test("acknowledges events within their deadline, after recording what they bring", async () => {
  const { chat, rooms, state } = await startSlackHarness();
  await state("connected");
  chat.say(rooms[0] ?? "", "ann", "@herd hello");
  await waitUntil("the answer", async () =>
    chat.posts(rooms[0] ?? "").some((p) => p.text === "Good morning."),
  );
  const { socket } = chat.slack;
  await waitUntil("both events to be acknowledged", async () => socket.acknowledgedCount === 2);
  expect(chat.posts(rooms[0] ?? "")).toHaveLength(1);
});

test("shares one app's connection between agents that answer in separate channels", async () => {
  const { chat, rooms, fleet, state } = await startSlackHarness({}, {}, ["one", "two"]);
  await state("connected");
  expect(chat.slack.socket.connectionCount).toBe(1);
  for (const room of rooms) chat.say(room, "ann", "@herd hello");
  for (const room of rooms) {
    await waitUntil("the answer", async () =>
      chat.posts(room).some((p) => p.text === "Good morning."),
    );
    expect(chat.posts(room)).toHaveLength(1);
  }
  const { jobs } = await fleet.jobs.list({ limit: 9 });
  expect(jobs.map(({ agent }) => agent).sort()).toEqual(["one", "two"]);
  expect(await chat.command(rooms[1] ?? "", "ann", "status")).toContain("two");
});

test("gives a direct message to one of the agents in an app only", async () => {
  const direct = [["dora"], ["dan"]];
  const { chat, state } = await startSlackHarness({}, {}, ["one", "two"], direct);
  await state("connected");
  const room = chat.direct("dan");
  chat.say(room, "dan", "hello");
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  const { responses, responseTexts } = chat.slack.api;
  expect(await chat.command(room, "dan", "status")).toContain("two");
  await waitForQuiet();
  expect(responseTexts.length).toBe(responses.size);
  expect(chat.posts(room)).toHaveLength(1);
});

test("shows the app at work below the message until it is answered", async () => {
  const { chat, rooms, state } = await startSlackHarness();
  await state("connected");
  const [room = ""] = rooms;
  const { workspace } = chat.slack;
  const ts = timestampOf(chat.say(room, "ann", "@herd hello"));
  await waitUntil("the answer", async () =>
    chat.posts(room).some((p) => p.text === "Good morning."),
  );
  await waitUntil("the mark to be removed", async () => workspace.statuses.at(-1)?.status === "");
  expect(workspace.statuses[0]).toEqual({
    channel: room,
    thread_ts: ts,
    status: "is working on it…",
  });
});

test("requests every needed scope in the example app manifest", () => {
  const file = join(import.meta.dirname, "../../examples/slack/slack-app.yaml");
  const { oauth_config, settings, features } = parse(readFileSync(file, "utf8"));
  expect(oauth_config.scopes.bot).toEqual(expect.arrayContaining(requiredScopes));
  expect(listableRoomTypes(oauth_config.scopes.bot)).toEqual([
    "public_channel",
    "private_channel",
    "im",
  ]);
  expect(settings).toMatchObject({
    socket_mode_enabled: true,
    interactivity: { is_enabled: true },
  });
  expect(features.slash_commands).toMatchObject([{ command: "/herd" }]);
});

test.each([
  ["**bold** and [a link](https://x.example/y)", "*bold* and <https://x.example/y|a link>"],
  ["# Head\ntext", "*Head*\ntext"],
  ["<!channel> <@U1> a & b", "&lt;!channel&gt; &lt;@U1&gt; a &amp; b"],
  ["```ts\nconst a = **b** < c\n```", "```\nconst a = **b** &lt; c\n```"],
  ["`**x**` **y**", "`**x**` *y*"],
])("formats %j as %j", (text, shown) => {
  expect(toMrkdwn(text)).toBe(shown);
});
