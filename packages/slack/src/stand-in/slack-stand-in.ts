import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { neededScopes } from "../scopes.ts";
import { type RateLimit, RateLimits } from "./rate-limit.ts";
import { Socket } from "./socket.ts";
import { WebApi } from "./web-api.ts";
import { Workspace, type WorkspaceMessage } from "./workspace.ts";

export interface SlackStandInOptions {
  token?: string;
  appToken?: string;
  scopes?: string[];
  limits?: Record<string, RateLimit>;
  ackDeadline?: number;
  pingEvery?: number;
}

export interface SaidInSlack {
  channel: string;
  user: string;
  text: string;
  thread_ts?: string;
  attachments?: { name: string; type: string; content: string }[];
}

/** Slack's own, near enough: posts come in bursts of a few, changes by the minute. */
const usualLimits = {
  "chat.postMessage": { requests: 20, milliseconds: 10_000 },
  "chat.update": { requests: 50, milliseconds: 60_000 },
};

/**
 * A Slack workspace on loopback, for rehearsals and tests: Web API, socket mode, and people who
 * speak when they are told to. The real client libraries connect to it.
 */
export class SlackStandIn {
  readonly workspace = new Workspace();
  readonly token: string;
  readonly appToken: string;
  readonly limits: RateLimits;
  readonly api: WebApi;
  readonly socket: Socket;
  private readonly http = createServer((request, response) => {
    void this.api.serve(request, response).catch(() => response.destroy());
  });

  private constructor({
    token = "xoxb-stand-in",
    appToken = "xapp-stand-in",
    scopes = neededScopes,
    limits = usualLimits,
    ackDeadline = 3_000,
    pingEvery = 1_000,
  }: SlackStandInOptions) {
    this.token = token;
    this.appToken = appToken;
    this.limits = new RateLimits(limits);
    this.api = new WebApi(this.workspace, {
      token,
      appToken,
      scopes,
      limits: this.limits,
      origin: () => this.origin,
      socketUrl: () => `${this.origin.replace("http", "ws")}/socket`,
    });
    this.socket = new Socket(this.http, { ackDeadline, pingEvery });
  }

  static async start(options: SlackStandInOptions = {}): Promise<SlackStandIn> {
    const slack = new SlackStandIn(options);
    await new Promise<void>((done) => slack.http.listen(0, "127.0.0.1", done));
    return slack;
  }

  async stop(): Promise<void> {
    this.socket.close();
    this.http.closeAllConnections();
    await new Promise((done) => this.http.close(done));
  }

  /** For `base_url` in the configuration of an agent. */
  get url(): string {
    return `${this.origin}/api/`;
  }

  /** Somebody says something; `@herd` in it mentions the app. */
  say({ channel, user, text, thread_ts, attachments = [] }: SaidInSlack): WorkspaceMessage {
    const message = this.workspace.say({
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
    this.tell(message);
    return message;
  }

  /** As events; a mention comes as two of them, as it does from Slack. */
  tell(message: WorkspaceMessage): void {
    const { channel, ts, thread_ts, user, text, files } = message;
    const isDirect = this.workspace.channels.get(channel)?.direct !== null;
    const shared = { user, text, ts, thread_ts, channel, ...(files.length > 0 && { files }) };
    const subtype = files.length > 0 ? { subtype: "file_share" } : {};
    const channel_type = isDirect ? "im" : "channel";
    this.event({ type: "message", channel_type, ...subtype, ...shared });
    const isMention = text.includes(`<@${this.workspace.bot.user}>`);
    if (isMention && !isDirect) this.event({ type: "app_mention", ...shared });
  }

  /** Somebody presses a button; gives the name under which the app's response is found. */
  press(message: WorkspaceMessage, label: string, user: string): string {
    const elements = message.blocks.flatMap((block) => block.elements ?? []);
    const button = elements.find(({ text }) => text?.text === label);
    if (!button) throw new Error(`there is no button ${label}`);
    const { type, action_id, value } = button;
    return this.act(message, user, { type, action_id, value });
  }

  /** Somebody chooses from a menu of a message; where several may be chosen, and sends it. */
  choose(message: WorkspaceMessage, labels: string[], user: string): string {
    const parts = message.blocks.flatMap(({ elements = [], accessory }) => [
      ...elements,
      ...(accessory ? [accessory] : []),
    ]);
    const menu = parts.find(({ options }) => options !== undefined);
    const options = labels.map((label) => menu?.options?.find((one) => one.text.text === label));
    if (!menu || options.includes(undefined)) throw new Error(`there is no ${labels.join(" or ")}`);
    const { type, action_id } = menu;
    const block_id = message.blocks.find(({ accessory }) => accessory === menu)?.block_id;
    if (block_id === undefined) {
      return this.act(message, user, { type, action_id, selected_option: options[0] });
    }
    this.act(message, user, { type, action_id, block_id, selected_options: options });
    const send = parts.find(({ text }) => text?.text === "Send");
    const state = { values: { [block_id]: { [action_id]: { type, selected_options: options } } } };
    return this.act(message, user, { type: "button", action_id: send?.action_id }, { state });
  }

  private act(message: WorkspaceMessage, user: string, action: object, more: object = {}): string {
    const { channel, ts: message_ts, thread_ts } = message;
    const { name, response_url } = this.responseAddress();
    this.socket.send("interactive", {
      type: "block_actions",
      user: { id: this.workspace.user(user), name: user },
      team: { id: this.workspace.team },
      channel: { id: channel },
      container: { type: "message", message_ts, channel_id: channel, thread_ts },
      actions: [action],
      response_url,
      ...more,
    });
    return name;
  }

  /** Somebody uses the app's slash command. */
  command(channel: string, user: string, text: string): string {
    const { name, response_url } = this.responseAddress();
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

  private responseAddress(): { name: string; response_url: string } {
    const name = this.workspace.id("R");
    return { name, response_url: `${this.origin}/respond/${name}` };
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }
}
