import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RateLimiter } from "./rate-limit.ts";
import type { Block, MessageState, WorkspaceState } from "./workspace-state.ts";

type MethodParams = Record<string, string | undefined>;
type MethodResponse = { ok: boolean; error?: string } & Record<string, unknown>;
type Method = (params: MethodParams) => MethodResponse;

export interface WebApiOptions {
  token: string;
  appToken: string;
  scopes: string[];
  rateLimiter: RateLimiter;
  origin(): string;
  socketUrl(): string;
}

const maxTextChars = 40_000;
const maxSectionChars = 3_000;

function hasLongSection(blocks = "[]"): boolean {
  const sections = JSON.parse(blocks) as { type: string; text?: { text: string } }[];
  return sections.some(({ text }) => (text?.text ?? "").length > maxSectionChars);
}

/** The part of Slack's Web API that an app needs. */
export class WebApi {
  readonly responses = new Map<string, string>();
  /** All responses to commands and button presses, in order. */
  readonly responseTexts: string[] = [];
  readonly requests: { method: string; at: number }[] = [];
  /** Called before each method. A returned response replaces the real one; `lose` drops the connection after the call. */
  readonly faults: ((method: string) => "lose" | MethodResponse | undefined)[] = [];
  private readonly uploads = new Map<string, { name: string; content: Buffer }>();

  constructor(
    private readonly workspace: WorkspaceState,
    private readonly options: WebApiOptions,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://slack").pathname;
    const body = await buffer(request);
    const file = this.workspace.files.get(path);
    if (file) {
      const isAuthorized = request.headers.authorization === `Bearer ${this.options.token}`;
      return void response.writeHead(isAuthorized ? 200 : 403).end(isAuthorized ? file : "");
    }
    if (path.startsWith("/respond/")) {
      const { text } = JSON.parse(String(body));
      this.responses.set(path.slice(9), text);
      this.responseTexts.push(text);
      return void response.end("ok");
    }
    if (path.startsWith("/upload/")) {
      const form = new Response(new Uint8Array(body), {
        headers: { "content-type": request.headers["content-type"] ?? "" },
      });
      await this.storeUpload(path.slice(8), form);
      return void response.end("OK");
    }
    this.call(path.replace(/^\/api\//, ""), readForm(body), request, response);
  }

  private call(
    name: string,
    params: MethodParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    this.requests.push({ method: name, at: Date.now() });
    const retryAfterSeconds = this.options.rateLimiter.retryAfterSeconds(name);
    if (retryAfterSeconds !== undefined) {
      response.writeHead(429, { "retry-after": String(retryAfterSeconds) });
      return void response.end(JSON.stringify({ ok: false, error: "ratelimited" }));
    }
    const token = (request.headers.authorization ?? "").replace("Bearer ", "") || params.token;
    const fault = this.faults.map((fault) => fault(name)).find(Boolean);
    const result = fault && fault !== "lose" ? fault : this.callMethod(name, params, token);
    if (fault === "lose") return void response.destroy();
    const scopes = { "x-oauth-scopes": this.options.scopes.join(",") };
    response.writeHead(200, { "content-type": "application/json", ...scopes });
    response.end(JSON.stringify(result));
  }

  private callMethod(
    name: string,
    params: MethodParams,
    token: string | undefined,
  ): MethodResponse {
    const expectedToken =
      name === "apps.connections.open" ? this.options.appToken : this.options.token;
    if (token !== expectedToken) return failed("invalid_auth");
    const needed = scopeByMethod[name];
    if (needed && !this.options.scopes.includes(needed)) {
      return { ...failed("missing_scope"), needed, provided: this.options.scopes.join(",") };
    }
    return this.methods[name]?.(params) ?? failed("unknown_method");
  }

  private readonly methods: Record<string, Method> = {
    "auth.test": () => {
      const { team, bot } = this.workspace;
      return ok({ team: "The workspace", team_id: team, user: "herd", user_id: bot.user });
    },
    "apps.connections.open": () => ok({ url: this.options.socketUrl() }),
    "users.info": ({ user = "" }) => {
      const name = this.workspace.users.get(user);
      return name ? ok({ user: { id: user, name, profile: {} } }) : failed("user_not_found");
    },
    "users.conversations": ({ types = "public_channel" }) => {
      const requestedTypes = types.split(",");
      const needed = requestedTypes.map((type) => scopeByChannelType[type] ?? "");
      const missing = needed.find((scope) => !this.options.scopes.includes(scope));
      if (missing) return { ...failed("missing_scope"), needed: missing };
      const channels = [...this.workspace.channels]
        .filter(([, { direct }]) =>
          requestedTypes.includes(direct === null ? "public_channel" : "im"),
        )
        .map(([id, { name }]) => ({ id, name }));
      return ok({ channels });
    },
    "conversations.info": ({ channel = "" }) => {
      const state = this.workspace.channels.get(channel);
      return state ? ok({ channel: { id: channel, name: state.name } }) : channelNotFound;
    },
    "conversations.history": (params) => {
      const messages = this.findMessages(params).filter(
        ({ thread_ts, ts }) => (thread_ts ?? ts) === ts,
      );
      return this.toPage(params, messages.reverse());
    },
    "conversations.replies": (params) => {
      const messages = this.findMessages(params).filter(
        ({ thread_ts, ts }) => thread_ts === params.ts || ts === params.ts,
      );
      return this.toPage(params, messages);
    },
    "chat.postMessage": (params) => this.post(params),
    "chat.update": ({ channel = "", ts = "", text, blocks }) => {
      const message = this.workspace.find(channel, ts);
      if (!message) return failed("message_not_found");
      if (message.user !== this.workspace.bot.user) return failed("cant_update_message");
      if ((text ?? "").length > maxTextChars) return failed("msg_too_long");
      if (hasLongSection(blocks)) return failed("invalid_blocks");
      message.text = text ?? message.text;
      message.edits.push(message.text);
      if (blocks !== undefined) message.blocks = JSON.parse(blocks) as Block[];
      return ok({ channel, ts, text: message.text });
    },
    "assistant.threads.setStatus": ({ channel_id: channel = "", thread_ts = "", status = "" }) => {
      if (!this.workspace.channels.has(channel)) return channelNotFound;
      if (!this.workspace.find(channel, thread_ts)) return failed("invalid_thread_ts");
      this.workspace.statuses.push({ channel, thread_ts, status });
      return ok();
    },
    "reactions.add": ({ channel = "", timestamp = "", name = "" }) => {
      const message = this.workspace.find(channel, timestamp);
      if (!message) return failed("message_not_found");
      message.reactions.push(name);
      return ok();
    },
    "files.getUploadURLExternal": ({ filename = "file" }) => {
      const file_id = this.workspace.id("F");
      this.uploads.set(file_id, { name: filename, content: Buffer.alloc(0) });
      return ok({ file_id, upload_url: `${this.options.origin()}/upload/${file_id}` });
    },
    "files.completeUploadExternal": ({ files = "[]", channel_id: channel = "", thread_ts }) => {
      const uploads = JSON.parse(files) as { id: string; title: string }[];
      const storedFiles = uploads.map(({ id, title }) => this.storeFile(id, title));
      const { user, id: bot_id } = this.workspace.bot;
      this.workspace.addMessage({ channel, thread_ts, user, bot_id, text: "", files: storedFiles });
      return ok({ files: storedFiles });
    },
  };

  private post({
    channel = "",
    thread_ts,
    text = "",
    blocks,
    metadata,
  }: MethodParams): MethodResponse {
    if (!this.workspace.channels.has(channel)) return channelNotFound;
    if (text === "" && blocks === undefined) return failed("no_text");
    if (text.length > maxTextChars) return failed("msg_too_long");
    if (hasLongSection(blocks)) return failed("invalid_blocks");
    const { user, id: bot_id } = this.workspace.bot;
    const message = this.workspace.addMessage({
      channel,
      thread_ts,
      user,
      bot_id,
      text,
      blocks: blocks === undefined ? [] : (JSON.parse(blocks) as Block[]),
      metadata: metadata === undefined ? undefined : JSON.parse(metadata),
    });
    return ok({ channel, ts: message.ts, message: { text } });
  }

  private findMessages({
    channel,
    oldest = "0",
    latest = "9999999999",
  }: MethodParams): MessageState[] {
    return this.workspace.messages.filter(
      (message) =>
        message.channel === channel &&
        Number(message.ts) > Number(oldest) &&
        Number(message.ts) < Number(latest),
    );
  }

  private toPage({ limit = "100", include_all_metadata }: MethodParams, messages: MessageState[]) {
    const page = messages.slice(0, Number(limit)).map(({ metadata, ...message }) => ({
      type: "message",
      ...message,
      ...(include_all_metadata === "true" ? { metadata } : {}),
    }));
    return ok({ messages: page, has_more: false });
  }

  private async storeUpload(id: string, form: Response): Promise<void> {
    const upload = this.uploads.get(id);
    if (!upload) return;
    const isForm = form.headers.get("content-type")?.startsWith("multipart/");
    const [content] = isForm
      ? [...(await form.formData()).values()].filter((value) => typeof value !== "string")
      : [await form.blob()];
    upload.content = content ? Buffer.from(await content.arrayBuffer()) : upload.content;
  }

  private storeFile(id: string, title: string) {
    const { name, content } = this.uploads.get(id) ?? { name: "file", content: Buffer.alloc(0) };
    const path = `/files/${id}/content`;
    this.workspace.files.set(path, content);
    const url_private_download = `${this.options.origin()}${path}`;
    return { id, name, title, mimetype: "text/plain", size: content.length, url_private_download };
  }
}

const scopeByMethod: Record<string, string> = {
  "chat.postMessage": "chat:write",
  "chat.update": "chat:write",
  "assistant.threads.setStatus": "chat:write",
  "conversations.history": "channels:history",
  "conversations.info": "channels:read",
  "reactions.add": "reactions:write",
  "users.info": "users:read",
  "files.getUploadURLExternal": "files:write",
};

const scopeByChannelType: Record<string, string> = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
};

const channelNotFound = failed("channel_not_found");

function ok(fields: Record<string, unknown> = {}): MethodResponse {
  return { ok: true, ...fields };
}

function failed(error: string): MethodResponse {
  return { ok: false, error };
}

function readForm(body: Buffer): MethodParams {
  return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
}
