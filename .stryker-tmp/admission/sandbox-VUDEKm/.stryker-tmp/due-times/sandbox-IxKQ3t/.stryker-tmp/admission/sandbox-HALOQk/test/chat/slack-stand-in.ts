import { slack } from "@herdctl/slack";
import { SlackStandIn, type SlackStandInOptions } from "@herdctl/slack/stand-in";
import { waitUntil } from "../support/fleet-child-process.ts";
import type { ChatStandIn, ObservedPost } from "./chat-stand-in.ts";

/** The suite treats a thread as a room; Slack identifies it by channel and first message. */
const threadSeparator = "#";

export async function startSlackStandIn(
  options: SlackStandInOptions = {},
): Promise<ChatStandIn & { slack: SlackStandIn }> {
  const server = await SlackStandIn.start(options);
  const { workspace, api } = server;
  const place = (room: string) => {
    const [channel = "", thread_ts] = room.split(threadSeparator);
    return { channel, thread_ts };
  };
  const answered = (name: string) =>
    waitUntil("the app to respond", async () => api.responses.get(name));
  const said = (name: string) => {
    const [channel = "", ts = ""] = name.split("/");
    const message = workspace.find(channel, ts);
    if (!message) throw new Error(`there is no message ${name}`);
    return message;
  };
  const posts = (room: string): ObservedPost[] =>
    workspace.messages
      .filter(({ user, channel, thread_ts }) => {
        const at = place(room);
        return user === workspace.bot.user && channel === at.channel && thread_ts === at.thread_ts;
      })
      .map(({ ts, text, originalText, edits, blocks, files }) => ({
        id: ts,
        text,
        texts: [originalText, ...edits],
        buttons: blocks.flatMap(({ elements = [] }) => elements.flatMap((o) => o.text?.text ?? [])),
        options: blocks
          .flatMap(({ elements = [], accessory }) => [
            ...elements,
            ...(accessory ? [accessory] : []),
          ])
          .flatMap(({ options = [] }) => options.map((one) => one.text.text)),
        files: files.map(({ name, url_private_download: url }) => ({
          name,
          content: String(workspace.files.get(new URL(url).pathname)),
        })),
      }));
  return {
    slack: server,
    platform: "slack",
    platforms: { slack: async () => slack },
    env: { SLACK_TOKEN: server.token, SLACK_APP_TOKEN: server.appToken },
    settings: `token_env: SLACK_TOKEN, app_token_env: SLACK_APP_TOKEN, base_url: "${server.url}", workspaces: [${workspace.team}]`,
    mention: "@herd",
    smallPrint: (text) => `_${text}_`,
    maxPostLength: 3800,
    userId: (name) => workspace.user(name),
    channel: (name) => workspace.channel(name),
    thread: (name, channel) =>
      `${channel}${threadSeparator}${workspace.addMessage({ channel, user: workspace.user("zoe"), text: name }).ts}`,
    direct: (user) => workspace.direct(workspace.user(user)),
    threadsOf: (room) =>
      workspace.messages.flatMap(({ channel, thread_ts }) =>
        channel === room && thread_ts !== undefined
          ? `${channel}${threadSeparator}${thread_ts}`
          : [],
      ),
    say: (room, user, text, more) => {
      const { channel, ts } = server.sendMessage({ ...place(room), user, text, ...more });
      return `${channel}/${ts}`;
    },
    replyToHook: (channel, post, user, text) => {
      const { ts } = workspace.addMessage({ channel, user: "UHOOK", bot_id: "BHOOK", text: post });
      server.sendMessage({ channel, user, text, thread_ts: ts });
      return `${channel}${threadSeparator}${ts}`;
    },
    repeat: (id) => server.deliver(said(id)),
    posts,
    marks: (id) => said(id).reactions,
    signsOfWork: (room) => {
      const { channel, thread_ts } = place(room);
      return workspace.statuses.filter(
        (one) =>
          one.channel === channel &&
          one.status !== "" &&
          (thread_ts === undefined || one.thread_ts === thread_ts),
      ).length;
    },
    reply: (room, postId, user, text) => {
      const { channel, thread_ts = postId } = place(room);
      return `${channel}/${server.sendMessage({ channel, user, text, thread_ts }).ts}`;
    },
    choose: (room, postId, labels, user) => {
      const message = workspace.find(place(room).channel, postId);
      if (!message) throw new Error("there is no such post");
      return answered(server.chooseFromMenu(message, labels, user));
    },
    press: (room, postId, label, user) => {
      const message = workspace.find(place(room).channel, postId);
      if (!message) throw new Error("there is no such post");
      return answered(server.pressButton(message, label, user));
    },
    command: (room, user, name, argument = "") =>
      answered(server.command(place(room).channel, user, `${name} ${argument}`)),
    drop: () => server.socket.disconnectAll(),
    connections: () => server.socket.connectionCount,
    refusals: () => server.limits.rejectedCount,
    loseNextAnswer: (call, then) => {
      let isLost = false;
      const wanted = {
        post: "chat.postMessage",
        edit: "chat.update",
        file: "files.completeUploadExternal",
      }[call];
      api.faults.push((method) => {
        if (isLost || method !== wanted) return undefined;
        isLost = true;
        then?.();
        return "lose";
      });
    },
    refuseFiles: () => {
      const refusal = { ok: false, error: "missing_scope", needed: "files:write" };
      api.faults.push((name) => (name === "files.getUploadURLExternal" ? refusal : undefined));
    },
    stop: () => server.stop(),
  };
}
