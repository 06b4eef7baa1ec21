import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { requiredScopes } from "../scopes.ts";
import { type RateLimit, RateLimiter } from "./rate-limit.ts";
import { SocketModeServer } from "./socket-mode-server.ts";
import { WebApi } from "./web-api.ts";
import { type MessageState, WorkspaceState } from "./workspace-state.ts";

export interface SlackStandInOptions {
  token?: string;
  appToken?: string;
  scopes?: string[];
  limits?: Record<string, RateLimit>;
  ackTimeoutMs?: number;
  pingIntervalMs?: number;
}

export interface SayOptions {
  channel: string;
  user: string;
  text: string;
  thread_ts?: string;
  attachments?: { name: string; type: string; content: string }[];
}

/** Approximates Slack's limits: short bursts of posts, and edits per minute. */
const defaultRateLimits = {
  "chat.postMessage": { maxRequests: 20, windowMs: 10_000 },
  "chat.update": { maxRequests: 50, windowMs: 60_000 },
};

/**
 * A Slack workspace on loopback, for rehearsals and tests: Web API, socket mode, and users that the
 * test controls. The real client libraries connect to it.
 */
export class SlackStandIn {
  readonly workspace = new WorkspaceState();
  readonly token: string;
  readonly appToken: string;
  readonly limits: RateLimiter;
  readonly api: WebApi;
  readonly socket: SocketModeServer;
  private readonly httpServer = createServer((request, response) => {
    void this.api.serve(request, response).catch(() => response.destroy());
  });

  private constructor({
    token = "xoxb-stand-in",
    appToken = "xapp-stand-in",
    scopes = requiredScopes,
    limits = defaultRateLimits,
    ackTimeoutMs = 3_000,
    pingIntervalMs = 1_000,
  }: SlackStandInOptions) {
    this.token = token;
    this.appToken = appToken;
    this.limits = new RateLimiter(limits);
    this.api = new WebApi(this.workspace, {
      token,
      appToken,
      scopes,
      rateLimiter: this.limits,
      origin: () => this.origin,
      socketUrl: () => `${this.origin.replace("http", "ws")}/socket`,
    });
    this.socket = new SocketModeServer(this.httpServer, { ackTimeoutMs, pingIntervalMs });
  }

  static async start(options: SlackStandInOptions = {}): Promise<SlackStandIn> {
    const slack = new SlackStandIn(options);
    await new Promise<void>((resolve) => slack.httpServer.listen(0, "127.0.0.1", resolve));
    return slack;
  }

  async stop(): Promise<void> {
    this.socket.close();
    this.httpServer.closeAllConnections();
    await new Promise((resolve) => this.httpServer.close(resolve));
  }

  /** The value for `base_url` in an agent's configuration. */
  get url(): string {
    return `${this.origin}/api/`;
  }

  /** Sends a message from a user. `@herd` in the text mentions the app. */
  sendMessage({ channel, user, text, thread_ts, attachments = [] }: SayOptions): MessageState {
    const message = this.workspace.addMessage({
      channel,
      thread_ts,
      user: this.workspace.user(user),
      text: text.replaceAll("@herd", `<@${this.workspace.bot.user}>`),
      files: attachments.map(({ name, type, content }) => {
        const id = this.workspace.id("F");
        const path = `/files/${id}/content`;
        this.workspace.files.set(path, Buffer.from(content));
        const url_private_download = `${this.origin}${path}`;
        return {
          id,
          name,
          title: name,
          mimetype: type,
          size: content.length,
          url_private_download,
        };
      }),
    });
    this.deliver(message);
    return message;
  }

  /** Sends the events of a message. Like in Slack, a mention is two events. */
  deliver(message: MessageState): void {
    const { channel, ts, thread_ts, user, text, files } = message;
    const isDirect = this.workspace.channels.get(channel)?.direct !== null;
    const shared = { user, text, ts, thread_ts, channel, ...(files.length > 0 && { files }) };
    const subtype = files.length > 0 ? { subtype: "file_share" } : {};
    const channel_type = isDirect ? "im" : "channel";
    this.event({ type: "message", channel_type, ...subtype, ...shared });
    const isMention = text.includes(`<@${this.workspace.bot.user}>`);
    if (isMention && !isDirect) this.event({ type: "app_mention", ...shared });
  }

  /** A user presses a button. Returns the key of the app's response in `api.responses`. */
  pressButton(message: MessageState, label: string, user: string): string {
    const elements = message.blocks.flatMap((block) => block.elements ?? []);
    const button = elements.find(({ text }) => text?.text === label);
    if (!button) throw new Error(`there is no button ${label}`);
    const { type, action_id, value } = button;
    return this.sendBlockAction(message, user, { type, action_id, value });
  }

  /** A user chooses from a menu of a message, and presses Send if several can be chosen. */
  chooseFromMenu(message: MessageState, labels: string[], user: string): string {
    const parts = message.blocks.flatMap(({ elements = [], accessory }) => [
      ...elements,
      ...(accessory ? [accessory] : []),
    ]);
    const menu = parts.find(({ options }) => options !== undefined);
    const options = labels.map((label) =>
      menu?.options?.find((option) => option.text.text === label),
    );
    if (!menu || options.includes(undefined)) throw new Error(`there is no ${labels.join(" or ")}`);
    const { type, action_id } = menu;
    const block_id = message.blocks.find(({ accessory }) => accessory === menu)?.block_id;
    if (block_id === undefined) {
      return this.sendBlockAction(message, user, { type, action_id, selected_option: options[0] });
    }
    this.sendBlockAction(message, user, { type, action_id, block_id, selected_options: options });
    const send = parts.find(({ text }) => text?.text === "Send");
    const state = { values: { [block_id]: { [action_id]: { type, selected_options: options } } } };
    return this.sendBlockAction(
      message,
      user,
      { type: "button", action_id: send?.action_id },
      { state },
    );
  }

  private sendBlockAction(
    message: MessageState,
    user: string,
    action: object,
    extraFields: object = {},
  ): string {
    const { channel, ts: message_ts, thread_ts } = message;
    const { name, response_url } = this.createResponseUrl();
    this.socket.send("interactive", {
      type: "block_actions",
      user: { id: this.workspace.user(user), name: user },
      team: { id: this.workspace.team },
      channel: { id: channel },
      container: { type: "message", message_ts, channel_id: channel, thread_ts },
      actions: [action],
      response_url,
      ...extraFields,
    });
    return name;
  }

  /** A user runs the app's slash command. */
  command(channel: string, user: string, text: string): string {
    const { name, response_url } = this.createResponseUrl();
    this.socket.send("slash_commands", {
      command: "/herd",
      text,
      team_id: this.workspace.team,
      channel_id: channel,
      channel_name: this.workspace.channels.get(channel)?.name,
      user_id: this.workspace.user(user),
      user_name: user,
      trigger_id: this.workspace.id("trigger"),
      response_url,
    });
    return name;
  }

  private event(event: Record<string, unknown>): void {
    this.socket.send("events_api", {
      type: "event_callback",
      team_id: this.workspace.team,
      event_id: this.workspace.id("Ev"),
      event,
    });
  }

  private createResponseUrl(): { name: string; response_url: string } {
    const name = this.workspace.id("R");
    return { name, response_url: `${this.origin}/respond/${name}` };
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.httpServer.address() as AddressInfo).port}`;
  }
}
