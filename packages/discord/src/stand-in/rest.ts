import type { IncomingMessage, ServerResponse } from "node:http";
import { type Form, readForm } from "./form.ts";
import { channelObject, guildObject, memberObject, messageObject, userObject } from "./objects.ts";
import type { RateLimits } from "./rate-limit.ts";
import type { World, WorldMessage } from "./world.ts";

export type Answer = [status: number, data?: unknown];

interface Asked {
  at: string[];
  form: Form;
  query: URLSearchParams;
}

type Route = [method: string, path: RegExp, answer: (asked: Asked) => Answer, bucket?: string];

type Mishap = (method: string, path: string, form: Form) => Answer | "cut" | "lose" | undefined;

export interface RestOptions {
  token: string;
  limits: RateLimits;
  /** What an application was given: bit 18 and 19 stand for the content of messages. */
  applicationFlags: number;
  gatewayUrl(): string;
  filesUrl(): string;
  changed(kind: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: WorldMessage): void;
}

const nonceMemory = 5 * 60_000;

/** As much of Discord's REST API as a bot needs. */
export class Rest {
  readonly typing: string[] = [];
  readonly commands: unknown[] = [];
  readonly responses: { token: string; content: string }[] = [];
  /** Channels that the bot may not write to. */
  readonly forbidden = new Set<string>();
  /** Called before each request; what it gives is answered in place of the truth. */
  readonly mishaps: Mishap[] = [];
  readonly requests: { method: string; path: string; at: number }[] = [];

  constructor(
    private readonly world: World,
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
    const mishap = this.mishaps.map((one) => one(method, path, form)).find(Boolean);
    if (mishap === "cut") return void response.destroy();
    const isOpen = path.startsWith("/interactions/") || path.startsWith("/webhooks/");
    if (!isOpen && headers.authorization !== `Bot ${this.options.token}`) {
      return answer(response, [401, { message: "401: Unauthorized", code: 0 }]);
    }
    if (Array.isArray(mishap)) return answer(response, mishap);
    const [given, more] = this.answerTo(method, path, { form, query: url.searchParams });
    if (mishap === "lose") return void response.destroy();
    answer(response, given, more);
  }

  private answerTo(
    method: string,
    path: string,
    asked: Omit<Asked, "at">,
  ): [Answer, Record<string, string>?] {
    for (const [verb, pattern, act, bucket] of this.routes) {
      const found = verb === method ? pattern.exec(path) : null;
      if (!found) continue;
      const at = found.slice(1);
      if (bucket === undefined) return [act({ ...asked, at })];
      const { allowed, headers } = this.options.limits.ask(`${bucket}/${at[0]}`);
      if (allowed) return [act({ ...asked, at }), headers];
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
      () => [200, { url: this.options.gatewayUrl(), shards: 1, session_start_limit: startLimit }],
    ],
    ["GET", /^\/users\/@me$/, () => [200, userObject(this.world.bot)]],
    ["GET", /^\/users\/@me\/guilds$/, () => [200, [this.world.guild]]],
    [
      "GET",
      /^\/(?:oauth2\/)?applications\/@me$/,
      () => [
        200,
        { id: this.world.application, name: "herd", flags: this.options.applicationFlags },
      ],
    ],
    ["PUT", /^\/applications\/\d+\/commands$/, ({ form }) => this.register(form)],
    ["GET", /^\/guilds\/(\d+)$/, () => [200, guildObject(this.world)]],
    ["GET", /^\/guilds\/(\d+)\/members\/(\d+)$/, ({ at }) => this.member(at[1])],
    [
      "GET",
      /^\/guilds\/(\d+)\/channels$/,
      () => [200, [...this.world.channels.values()].map((one) => channelObject(this.world, one))],
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
        return [200, messageObject(this.world, this.world.messages[0] ?? nobody)];
      },
    ],
  ];

  private register({ json }: Form): Answer {
    const list = Array.isArray(json) ? json : [];
    this.commands.splice(0, this.commands.length, ...list);
    return [200, list.map((one, index) => ({ ...one, id: String(index + 1), version: "1" }))];
  }

  private member(id = ""): Answer {
    const user = this.world.users.get(id);
    return user ? [200, { user: userObject(user), ...memberObject(user) }] : unknownChannel;
  }

  private openDirect({ json }: Form): Answer {
    return [200, channelObject(this.world, this.world.direct(json.recipient_id ?? ""))];
  }

  private channel(id = ""): Answer {
    const channel = this.world.channels.get(id);
    return channel ? [200, channelObject(this.world, channel)] : unknownChannel;
  }

  private message(id = ""): Answer {
    const message = this.world.messages.find((one) => one.id === id);
    return message ? [200, messageObject(this.world, message)] : unknownMessage;
  }

  /** Newest first, as Discord gives them. */
  private history(channel: string, query: URLSearchParams): Answer {
    if (!this.world.channels.has(channel)) return unknownChannel;
    const [before, after] = [query.get("before"), query.get("after")];
    const limit = Number(query.get("limit") ?? 50);
    const found = this.world
      .in(channel)
      .filter(({ id }) => before === null || BigInt(id) < BigInt(before))
      .filter(({ id }) => after === null || BigInt(id) > BigInt(after));
    const page = after === null ? found.slice(-limit) : found.slice(0, limit);
    return [200, page.reverse().map((one) => messageObject(this.world, one))];
  }

  private post(channel: string, { json, files }: Form): Answer {
    if (!this.world.channels.has(channel)) return unknownChannel;
    if (this.forbidden.has(channel)) return [403, { message: "Missing Permissions", code: 50_013 }];
    const { content = "", nonce = null, enforce_nonce: enforce, components = [] } = json;
    if (content.length > 2000) return invalid("content", "Must be 2000 or fewer in length.");
    if (content === "" && files.length === 0) return [400, { message: "empty", code: 50_006 }];
    const known = enforce ? this.recentWith(channel, nonce) : undefined;
    if (known) return [200, messageObject(this.world, known)];
    const attachments = files.map(({ name, content: bytes }) => this.keep(name, bytes));
    const reference = json.message_reference?.message_id ?? null;
    const author = this.world.bot.id;
    const message = this.world.say({
      channel,
      author,
      content,
      nonce: nonce === null ? null : String(nonce),
      components,
      attachments,
      reference,
      mentions: [],
    });
    this.options.changed("MESSAGE_CREATE", message);
    return [200, messageObject(this.world, message)];
  }

  private recentWith(channel: string, nonce: string | number | null): WorldMessage | undefined {
    return this.world
      .in(channel)
      .find(
        (one) =>
          one.nonce === String(nonce) && Date.now() - Date.parse(one.timestamp) < nonceMemory,
      );
  }

  private edit(id: string, { json }: Form): Answer {
    const message = this.world.messages.find((one) => one.id === id);
    if (!message) return unknownMessage;
    if (message.author !== this.world.bot.id) return [403, { message: "Not yours", code: 50_005 }];
    const { content = message.content, components = message.components } = json;
    if (content.length > 2000) return invalid("content", "Must be 2000 or fewer in length.");
    message.edits.push({ content, at: Date.now() });
    Object.assign(message, { content, components });
    this.options.changed("MESSAGE_UPDATE", message);
    return [200, messageObject(this.world, message)];
  }

  private type(channel: string): Answer {
    this.typing.push(channel);
    return [204];
  }

  private react(id: string, emoji: string): Answer {
    this.world.messages.find((one) => one.id === id)?.reactions.push(emoji);
    return [204];
  }

  private respond(token: string, content: string): Answer {
    if (content !== "") this.responses.push({ token, content });
    return [204];
  }

  private keep(filename: string, content: Buffer) {
    const id = this.world.snowflake();
    const path = `/attachments/${id}/content`;
    this.world.files.set(path, content);
    const url = `${this.options.filesUrl()}${path}`;
    return { id, filename, size: content.length, url, proxy_url: url, content_type: "text/plain" };
  }
}

const startLimit = { total: 1000, remaining: 999, reset_after: 1000, max_concurrency: 1 };
const unknownChannel: Answer = [404, { message: "Unknown Channel", code: 10_003 }];
const unknownMessage: Answer = [404, { message: "Unknown Message", code: 10_008 }];

const nobody: WorldMessage = {
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
  first: "",
  edits: [],
};

function invalid(field: string, message: string): Answer {
  const errors = { [field]: { _errors: [{ code: "BASE_TYPE_MAX_LENGTH", message }] } };
  return [400, { message: "Invalid Form Body", code: 50_035, errors }];
}

function answer(
  response: ServerResponse,
  [status, data]: Answer,
  headers: Record<string, string> = {},
): void {
  const type = data === undefined ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...type, ...headers });
  response.end(data === undefined ? undefined : JSON.stringify(data));
}
