import type { IncomingMessage, ServerResponse } from "node:http";
import {
  toChannelObject,
  toGuildObject,
  toMemberObject,
  toMessageObject,
  toUserObject,
} from "./api-objects.ts";
import type { DiscordState, MessageState } from "./discord-state.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { type Form, readForm } from "./request-form.ts";

export type RestResponse = [status: number, data?: unknown];

interface RestRequest {
  at: string[];
  form: Form;
  query: URLSearchParams;
}

type Route = [
  method: string,
  path: RegExp,
  handle: (restRequest: RestRequest) => RestResponse,
  bucket?: string,
];

type Fault = (
  method: string,
  path: string,
  form: Form,
) => RestResponse | "cut" | "lose" | undefined;

export interface RestOptions {
  token: string;
  rateLimiter: RateLimiter;
  /** Application flags. Bits 18 and 19 mean that it may read message content. */
  applicationFlags: number;
  gatewayUrl(): string;
  filesUrl(): string;
  onMessageChanged(kind: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: MessageState): void;
}

const nonceWindowMs = 5 * 60_000;

/** The part of Discord's REST API that a bot needs. */
export class RestApi {
  readonly typing: string[] = [];
  readonly commands: unknown[] = [];
  readonly responses: { token: string; content: string }[] = [];
  /** Channels that the bot may not post to. */
  readonly readOnlyChannels = new Set<string>();
  /** Called before each request. A returned response replaces the real one. */
  readonly faults: Fault[] = [];
  readonly requests: { method: string; path: string; at: number }[] = [];

  constructor(
    private readonly world: DiscordState,
    private readonly options: RestOptions,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", "http://discord");
    const path = decodeURIComponent(url.pathname.replace(/^\/api(\/v\d+)?/, ""));
    this.requests.push({ method, path, at: Date.now() });
    const form = await readForm(request);
    const file = this.world.files.get(path);
    if (file) return void response.writeHead(200).end(file);
    const fault = this.faults.map((fault) => fault(method, path, form)).find(Boolean);
    if (fault === "cut") return void response.destroy();
    const isPublic = path.startsWith("/interactions/") || path.startsWith("/webhooks/");
    if (!isPublic && headers.authorization !== `Bot ${this.options.token}`) {
      return sendResponse(response, [401, { message: "401: Unauthorized", code: 0 }]);
    }
    if (Array.isArray(fault)) return sendResponse(response, fault);
    const [restResponse, extraHeaders] = this.route(method, path, {
      form,
      query: url.searchParams,
    });
    if (fault === "lose") return void response.destroy();
    sendResponse(response, restResponse, extraHeaders);
  }

  private route(
    method: string,
    path: string,
    restRequest: Omit<RestRequest, "at">,
  ): [RestResponse, Record<string, string>?] {
    for (const [routeMethod, pattern, handle, bucket] of this.routes) {
      const match = routeMethod === method ? pattern.exec(path) : null;
      if (!match) continue;
      const at = match.slice(1);
      if (bucket === undefined) return [handle({ ...restRequest, at })];
      const { allowed, headers } = this.options.rateLimiter.take(`${bucket}/${at[0]}`);
      if (allowed) return [handle({ ...restRequest, at }), headers];
      const retry_after = Number(headers["retry-after"]);
      const body = { message: "You are being rate limited.", retry_after, global: false };
      return [[429, body], headers];
    }
    return [[404, { message: "404: Not Found", code: 0 }]];
  }

  private readonly routes: Route[] = [
    [
      "GET",
      /^\/gateway\/bot$/,
      () => [
        200,
        { url: this.options.gatewayUrl(), shards: 1, session_start_limit: sessionStartLimit },
      ],
    ],
    ["GET", /^\/users\/@me$/, () => [200, toUserObject(this.world.bot)]],
    ["GET", /^\/users\/@me\/guilds$/, () => [200, [this.world.guild]]],
    [
      "GET",
      /^\/(?:oauth2\/)?applications\/@me$/,
      () => [
        200,
        { id: this.world.application, name: "herd", flags: this.options.applicationFlags },
      ],
    ],
    ["PUT", /^\/applications\/\d+\/commands$/, ({ form }) => this.registerCommands(form)],
    ["GET", /^\/guilds\/(\d+)$/, () => [200, toGuildObject(this.world)]],
    ["GET", /^\/guilds\/(\d+)\/members\/(\d+)$/, ({ at }) => this.member(at[1])],
    [
      "GET",
      /^\/guilds\/(\d+)\/channels$/,
      () => [
        200,
        [...this.world.channels.values()].map((channel) => toChannelObject(this.world, channel)),
      ],
    ],
    ["POST", /^\/users\/@me\/channels$/, ({ form }) => this.openDirect(form)],
    ["GET", /^\/channels\/(\d+)$/, ({ at }) => this.channel(at[0])],
    ["GET", /^\/channels\/(\d+)\/messages$/, ({ at, query }) => this.history(at[0] ?? "", query)],
    ["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, ({ at }) => this.message(at[1])],
    [
      "POST",
      /^\/channels\/(\d+)\/messages$/,
      ({ at, form }) => this.post(at[0] ?? "", form),
      "post",
    ],
    [
      "PATCH",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ({ at, form }) => this.edit(at[1] ?? "", form),
      "edit",
    ],
    ["POST", /^\/channels\/(\d+)\/typing$/, ({ at }) => this.type(at[0] ?? "")],
    [
      "PUT",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
      ({ at }) => this.react(at[1] ?? "", at[2] ?? ""),
    ],
    [
      "POST",
      /^\/interactions\/\d+\/([^/]+)\/callback$/,
      ({ at, form }) => this.respond(at[0] ?? "", form.json.data?.content ?? ""),
    ],
    [
      "PATCH",
      /^\/webhooks\/\d+\/([^/]+)\/messages\/@original$/,
      ({ at, form }) => {
        this.respond(at[0] ?? "", form.json.content ?? "");
        return [200, toMessageObject(this.world, this.world.messages[0] ?? placeholderMessage)];
      },
    ],
  ];

  private registerCommands({ json }: Form): RestResponse {
    const list = Array.isArray(json) ? json : [];
    this.commands.splice(0, this.commands.length, ...list);
    return [
      200,
      list.map((command, index) => ({ ...command, id: String(index + 1), version: "1" })),
    ];
  }

  private member(id = ""): RestResponse {
    const user = this.world.users.get(id);
    return user ? [200, { user: toUserObject(user), ...toMemberObject(user) }] : unknownChannel;
  }

  private openDirect({ json }: Form): RestResponse {
    return [200, toChannelObject(this.world, this.world.direct(json.recipient_id ?? ""))];
  }

  private channel(id = ""): RestResponse {
    const channel = this.world.channels.get(id);
    return channel ? [200, toChannelObject(this.world, channel)] : unknownChannel;
  }

  private message(id = ""): RestResponse {
    const message = this.world.messages.find((message) => message.id === id);
    return message ? [200, toMessageObject(this.world, message)] : unknownMessage;
  }

  /** Newest first, like Discord. */
  private history(channel: string, query: URLSearchParams): RestResponse {
    if (!this.world.channels.has(channel)) return unknownChannel;
    const [before, after] = [query.get("before"), query.get("after")];
    const limit = Number(query.get("limit") ?? 50);
    const messages = this.world
      .messagesIn(channel)
      .filter(({ id }) => before === null || BigInt(id) < BigInt(before))
      .filter(({ id }) => after === null || BigInt(id) > BigInt(after));
    const page = after === null ? messages.slice(-limit) : messages.slice(0, limit);
    return [200, page.reverse().map((message) => toMessageObject(this.world, message))];
  }

  private post(channel: string, { json, files }: Form): RestResponse {
    if (!this.world.channels.has(channel)) return unknownChannel;
    if (this.readOnlyChannels.has(channel))
      return [403, { message: "Missing Permissions", code: 50_013 }];
    const { content = "", nonce = null, enforce_nonce: enforce, components = [] } = json;
    if (content.length > 2000)
      return invalidFormBody("content", "Must be 2000 or fewer in length.");
    if (content === "" && files.length === 0) return [400, { message: "empty", code: 50_006 }];
    const existing = enforce ? this.findRecentByNonce(channel, nonce) : undefined;
    if (existing) return [200, toMessageObject(this.world, existing)];
    const attachments = files.map(({ name, content: bytes }) => this.storeAttachment(name, bytes));
    const reference = json.message_reference?.message_id ?? null;
    const author = this.world.bot.id;
    const message = this.world.addMessage({
      channel,
      author,
      content,
      nonce: nonce === null ? null : String(nonce),
      components,
      attachments,
      reference,
      mentions: [],
    });
    this.options.onMessageChanged("MESSAGE_CREATE", message);
    return [200, toMessageObject(this.world, message)];
  }

  private findRecentByNonce(
    channel: string,
    nonce: string | number | null,
  ): MessageState | undefined {
    return this.world
      .messagesIn(channel)
      .find(
        (message) =>
          message.nonce === String(nonce) &&
          Date.now() - Date.parse(message.timestamp) < nonceWindowMs,
      );
  }

  private edit(id: string, { json }: Form): RestResponse {
    const message = this.world.messages.find((message) => message.id === id);
    if (!message) return unknownMessage;
    if (message.author !== this.world.bot.id) return [403, { message: "Not yours", code: 50_005 }];
    const { content = message.content, components = message.components } = json;
    if (content.length > 2000)
      return invalidFormBody("content", "Must be 2000 or fewer in length.");
    message.edits.push({ content, at: Date.now() });
    Object.assign(message, { content, components });
    this.options.onMessageChanged("MESSAGE_UPDATE", message);
    return [200, toMessageObject(this.world, message)];
  }

  private type(channel: string): RestResponse {
    this.typing.push(channel);
    return [204];
  }

  private react(id: string, emoji: string): RestResponse {
    this.world.messages.find((message) => message.id === id)?.reactions.push(emoji);
    return [204];
  }

  private respond(token: string, content: string): RestResponse {
    if (content !== "") this.responses.push({ token, content });
    return [204];
  }

  private storeAttachment(filename: string, content: Buffer) {
    const id = this.world.snowflake();
    const path = `/attachments/${id}/content`;
    this.world.files.set(path, content);
    const url = `${this.options.filesUrl()}${path}`;
    return { id, filename, size: content.length, url, proxy_url: url, content_type: "text/plain" };
  }
}

const sessionStartLimit = { total: 1000, remaining: 999, reset_after: 1000, max_concurrency: 1 };
const unknownChannel: RestResponse = [404, { message: "Unknown Channel", code: 10_003 }];
const unknownMessage: RestResponse = [404, { message: "Unknown Message", code: 10_008 }];

const placeholderMessage: MessageState = {
  id: "1",
  channel: "1",
  author: "1",
  content: "",
  nonce: null,
  mentions: [],
  attachments: [],
  components: [],
  reference: null,
  reactions: [],
  timestamp: "2020-01-01T00:00:00.000Z",
  originalContent: "",
  edits: [],
};

function invalidFormBody(field: string, message: string): RestResponse {
  const errors = { [field]: { _errors: [{ code: "BASE_TYPE_MAX_LENGTH", message }] } };
  return [400, { message: "Invalid Form Body", code: 50_035, errors }];
}

function sendResponse(
  response: ServerResponse,
  [status, data]: RestResponse,
  headers: Record<string, string> = {},
): void {
  const type = data === undefined ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(data === undefined ? undefined : JSON.stringify(data));
}
