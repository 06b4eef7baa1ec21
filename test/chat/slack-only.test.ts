import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { tsOf } from "../../packages/slack/src/incoming.ts";
import { mrkdwn } from "../../packages/slack/src/mrkdwn.ts";
import { listedTypes, neededScopes } from "../../packages/slack/src/scopes.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";
import { quiet } from "./chat-stage.ts";
import { slackStandIn } from "./slack-stand-in.ts";

async function slackStage(
  options: Parameters<typeof slackStandIn>[0] = {},
  env: Record<string, string> = {},
  agents = ["one"],
  direct: string[][] = [],
) {
  const chat = await slackStandIn(options);
  onTestFinished(() => chat.stop());
  const on = await stage({ script: { default: "Good morning." } });
  const rooms = agents.map((name) => chat.channel(name));
  const yaml = agents.map((name, index) => {
    const people = (direct[index] ?? []).map((one) => `"${chat.userId(one)}"`).join(", ");
    const lists = `users: ["${chat.userId("ann")}"], channels: { ${rooms[index]}: {} }, direct_messages: [${people}], approvers: []`;
    return `  - name: ${name}\n    runtime: cli\n    chat: { slack: { ${chat.settings}, ${lists} } }`;
  });
  const all = { ...on, env: { ...on.env, ...chat.env, ...env } };
  const fleet = await startFleet(all, fleetFile(on, yaml.join("\n")), { chat: chat.platforms });
  const state = (wanted: string) =>
    until(`the links to be ${wanted}`, async () => {
      const links = await fleet.chat();
      return links.length === agents.length && links.every((one) => one.state === wanted) && links;
    });
  return { chat, rooms, fleet, state };
}

test("a wrong token and a wrong app-level token are told with what to do", async () => {
  for (const name of ["SLACK_TOKEN", "SLACK_APP_TOKEN"]) {
    const { state } = await slackStage({}, { [name]: "wrong" });
    expect((await state("failed"))[0]?.problem).toContain("does not know this token");
  }
});

test("a missing scope is told by its name", async () => {
  const scopes = ["users:read", "channels:history"];
  const { chat, rooms, fleet, state } = await slackStage({ scopes });
  await state("connected");
  chat.say(rooms[0] ?? "", "ann", "@herd hello");
  const problem = await until("the problem", async () => (await fleet.chat())[0]?.problem);
  expect(problem).toContain("`chat:write`");
  expect(chat.posts(rooms[0] ?? "")).toEqual([]);
});

test("events are acknowledged within their deadline, once what they bring is on record", async () => {
  const { chat, rooms, state } = await slackStage();
  await state("connected");
  chat.say(rooms[0] ?? "", "ann", "@herd hello");
  await until("the answer", async () =>
    chat.posts(rooms[0] ?? "").some((p) => p.text === "Good morning."),
  );
  const { socket } = chat.slack;
  await until("both events to be acknowledged", async () => socket.acknowledged === 2);
  expect(chat.posts(rooms[0] ?? "")).toHaveLength(1);
});

test("agents in one app share its connection, and each answers in its own channel only", async () => {
  const { chat, rooms, fleet, state } = await slackStage({}, {}, ["one", "two"]);
  await state("connected");
  expect(chat.slack.socket.connected).toBe(1);
  for (const room of rooms) chat.say(room, "ann", "@herd hello");
  for (const room of rooms) {
    await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
    expect(chat.posts(room)).toHaveLength(1);
  }
  const { jobs } = await fleet.jobs({ limit: 9 });
  expect(jobs.map(({ agent }) => agent).sort()).toEqual(["one", "two"]);
  expect(await chat.command(rooms[1] ?? "", "ann", "status")).toContain("two");
});

test("agents in one app: what is told one of them directly, no other answers", async () => {
  const direct = [["dora"], ["dan"]];
  const { chat, state } = await slackStage({}, {}, ["one", "two"], direct);
  await state("connected");
  const room = chat.direct("dan");
  chat.say(room, "dan", "hello");
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  const { responses, answers } = chat.slack.api;
  expect(await chat.command(room, "dan", "status")).toContain("two");
  await quiet();
  expect(answers.length).toBe(responses.size);
  expect(chat.posts(room)).toHaveLength(1);
});

test("the app is shown at work below the message, until it is answered", async () => {
  const { chat, rooms, state } = await slackStage();
  await state("connected");
  const [room = ""] = rooms;
  const { workspace } = chat.slack;
  const ts = tsOf(chat.say(room, "ann", "@herd hello"));
  await until("the answer", async () => chat.posts(room).some((p) => p.text === "Good morning."));
  await until("the sign to go", async () => workspace.statuses.at(-1)?.status === "");
  expect(workspace.statuses[0]).toEqual({
    channel: room,
    thread_ts: ts,
    status: "is working on it …",
  });
});

test("the app description of the example asks for all that an agent needs", () => {
  const file = join(import.meta.dirname, "../../examples/slack/slack-app.yaml");
  const { oauth_config, settings, features } = parse(readFileSync(file, "utf8"));
  expect(oauth_config.scopes.bot).toEqual(expect.arrayContaining(neededScopes));
  expect(listedTypes(oauth_config.scopes.bot)).toEqual(["public_channel", "private_channel", "im"]);
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
])("%j is shown as %j", (text, shown) => {
  expect(mrkdwn(text)).toBe(shown);
});
