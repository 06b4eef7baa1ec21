import type { ConnectorListener, IncomingMessage } from "@herdctl/core";
import { isSpoken, roomOf, type SlackMessage } from "./incoming.ts";
import { sendMark } from "./message-body.ts";
import { mrkdwn } from "./mrkdwn.ts";
import type { Envelope } from "./shared-socket.ts";

interface Hearer {
  team: string;
  /** Whether it is for us what somebody says or does there. */
  concerns(channel: string, user: string): boolean;
  incoming(channel: string, message: SlackMessage): Promise<IncomingMessage>;
  listener: ConnectorListener;
}

/** What an envelope holds, brought to whom it concerns. Other kinds are let pass. */
export async function hearEnvelope({ type, body }: Envelope, hearer: Hearer): Promise<void> {
  await readers[type]?.(body, hearer);
}

type Reader = (body: Record<string, unknown>, hearer: Hearer) => Promise<void>;

const readers: Record<string, Reader> = {
  async events_api(body, { concerns, incoming, listener }) {
    const event = body.event as SlackMessage & { type: string; channel?: string };
    const { channel = "", user = "" } = event;
    const isMessage = ["message", "app_mention"].includes(event.type);
    if (!isMessage || !isSpoken(event) || !concerns(channel, user)) return;
    await listener.message(await incoming(channel, event));
  },

  async slash_commands(given, { team, concerns, listener }) {
    const body = given as SlashCommand;
    if (!concerns(body.channel_id, body.user_id)) return;
    const [name = "", ...rest] = wordsOf(body);
    await listener.command({
      id: body.trigger_id,
      name,
      argument: rest.join(" "),
      room: roomOf(team, body.channel_id, {}),
      sender: { id: body.user_id, name: body.user_name, roles: [], isBot: false },
      respond: (text) => respondTo(body.response_url, text),
    });
  },

  async interactive(given, { team, concerns, listener }) {
    const body = given as BlockActions;
    const [action] = body.actions ?? [];
    if (body.type !== "block_actions" || !action || !concerns(body.channel.id, body.user.id))
      return;
    const pressed = pressOf(action, body);
    if (!pressed) return;
    const { thread_ts } = body.container;
    await listener.press({
      ...pressed,
      room: roomOf(team, body.channel.id, { thread_ts }),
      sender: { id: body.user.id, name: body.user.name, roles: [], isBot: false },
      respond: (text) => respondTo(body.response_url, text),
    });
  },
};

type SlashCommand = Record<
  "command" | "text" | "trigger_id" | "channel_id" | "user_id" | "user_name" | "response_url",
  string
>;

interface BlockActions extends Record<string, unknown> {
  type: string;
  actions?: BlockAction[];
  /** What stands in the menus of the message. */
  state?: { values: Record<string, Record<string, { selected_options?: Option[] }>> };
  channel: { id: string };
  container: { thread_ts?: string };
  user: { id: string; name: string };
  response_url: string;
}

type Option = { value: string };

interface BlockAction {
  type: string;
  action_id: string;
  selected_option?: Option | null;
}

/** What a menu of several holds counts when it is sent; a change of it is nothing yet. */
function pressOf({ type, action_id, selected_option }: BlockAction, { state }: BlockActions) {
  if (type === "multi_static_select") return undefined;
  if (type === "static_select") {
    return { value: action_id, chosen: selected_option ? [Number(selected_option.value)] : [] };
  }
  if (!action_id.endsWith(sendMark)) return { value: action_id };
  const value = action_id.slice(0, -sendMark.length);
  const { selected_options = [] } = state?.values[value]?.[value] ?? {};
  return { value, chosen: selected_options.map((one) => Number(one.value)) };
}

/** The command of the app, such as `/herd reset`, or one that is named like ours. */
function wordsOf({ command, text }: SlashCommand): string[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const isOwn = ["/herd", "/herdctl"].includes(command);
  const all = isOwn ? words : [command.slice(1), ...words];
  return all.length === 0 ? ["help"] : all;
}

/** Seen by whoever asked, and by nobody else. */
async function respondTo(url: string, text: string): Promise<void> {
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      text: mrkdwn(text),
      response_type: "ephemeral",
      replace_original: false,
    }),
    signal: AbortSignal.timeout(10_000),
  });
}
