import type { ConnectorListener, IncomingMessage } from "@herdctl/core";
import { isUserMessage, roomOf, type SlackMessage } from "./incoming-message.ts";
import { sendSuffix } from "./message-body.ts";
import { toMrkdwn } from "./mrkdwn.ts";
import type { Envelope } from "./shared-socket.ts";

interface EnvelopeContext {
  team: string;
  /** Whether this agent handles messages and actions of the user in the channel. */
  isRelevant(channel: string, user: string): boolean;
  toIncoming(channel: string, message: SlackMessage): Promise<IncomingMessage>;
  listener: ConnectorListener;
}

/** Passes the content of an envelope to the listener. Unknown types are ignored. */
export async function handleEnvelope(
  { type, body }: Envelope,
  context: EnvelopeContext,
): Promise<void> {
  await handlersByType[type]?.(body, context);
}

type EnvelopeHandler = (body: Record<string, unknown>, context: EnvelopeContext) => Promise<void>;

const handlersByType: Record<string, EnvelopeHandler> = {
  async events_api(body, { isRelevant, toIncoming, listener }) {
    const event = body.event as SlackMessage & { type: string; channel?: string };
    const { channel = "", user = "" } = event;
    const isMessage = ["message", "app_mention"].includes(event.type);
    if (!isMessage || !isUserMessage(event) || !isRelevant(channel, user)) return;
    await listener.onMessage(await toIncoming(channel, event));
  },

  async slash_commands(payload, { team, isRelevant, listener }) {
    const body = payload as SlashCommand;
    if (!isRelevant(body.channel_id, body.user_id)) return;
    const [name = "", ...rest] = parseCommandWords(body);
    await listener.onCommand({
      id: body.trigger_id,
      name,
      argument: rest.join(" "),
      room: roomOf(team, body.channel_id, {}),
      sender: { id: body.user_id, name: body.user_name, roles: [], isBot: false },
      respond: (text) => respondTo(body.response_url, text),
    });
  },

  async interactive(payload, { team, isRelevant, listener }) {
    const body = payload as BlockActions;
    const [action] = body.actions ?? [];
    if (body.type !== "block_actions" || !action || !isRelevant(body.channel.id, body.user.id))
      return;
    const pressed = toButtonPress(action, body);
    if (!pressed) return;
    const { thread_ts } = body.container;
    await listener.onButtonPress({
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
  /** The current selections in the message's menus. */
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

/** Multiple-choice menus count when the user presses Send; changes before that are ignored. */
function toButtonPress({ type, action_id, selected_option }: BlockAction, { state }: BlockActions) {
  if (type === "multi_static_select") return undefined;
  if (type === "static_select") {
    return {
      value: action_id,
      chosenIndexes: selected_option ? [Number(selected_option.value)] : [],
    };
  }
  if (!action_id.endsWith(sendSuffix)) return { value: action_id };
  const value = action_id.slice(0, -sendSuffix.length);
  const { selected_options = [] } = state?.values[value]?.[value] ?? {};
  return { value, chosenIndexes: selected_options.map((option) => Number(option.value)) };
}

/** Splits an app command such as `/herd reset`, or a command named like one of ours, into words. */
function parseCommandWords({ command, text }: SlashCommand): string[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const isAppCommand = ["/herd", "/herdctl"].includes(command);
  const commandWords = isAppCommand ? words : [command.slice(1), ...words];
  return commandWords.length === 0 ? ["help"] : commandWords;
}

/** Posts a response that only the user sees. */
async function respondTo(url: string, text: string): Promise<void> {
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      text: toMrkdwn(text),
      response_type: "ephemeral",
      replace_original: false,
    }),
    signal: AbortSignal.timeout(10_000),
  });
}
