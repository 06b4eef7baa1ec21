import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { RateLimits } from "./rate-limit.ts";
import type { Block, Workspace, WorkspaceMessage } from "./workspace.ts";

type Sent = Record<string, string | undefined>;
type Answer = { ok: boolean; error?: string } & Record<string, unknown>;
type Method = (sent: Sent) => Answer;

export interface WebApiOptions {
  token: string;
  appToken: string;
  scopes: string[];
  limits: RateLimits;
  origin(): string;
  socketUrl(): string;
}

const longestText = 40_000;
const maxSectionLength = 3_000;

function hasLongSection(blocks = "[]"): boolean {
  const given = JSON.parse(blocks) as { type: string; text?: { text: string } }[];
  return given.some(({ text }) => (text?.text ?? "").length > maxSectionLength);
}

/** As much of Slack's Web API as an app needs. */
export class WebApi {
  readonly responses = new Map<string, string>();
  /** All that was said to commands and presses, in its order. */
  readonly answers: string[] = [];
  readonly requests: { method: string; at: number }[] = [];
  /** Called before each method; the answer is lost when it says so. */
  readonly mishaps: ((method: string) => "lose" | Answer | undefined)[] = [];
  private readonly uploads = new Map<string, { name: string; content: Buffer }>();

  constructor(
    private readonly workspace: Workspace,
    private readonly options: WebApiOptions,
  ) {}

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://slack").pathname;
    const body = await buffer(request);
    const file = this.workspace.files.get(path);
    if (file) {
      const isOurs = request.headers.authorization === `Bearer ${this.options.token}`;
      return void response.writeHead(isOurs ? 200 : 403).end(isOurs ? file : "");
    }
    if (path.startsWith("/respond/")) {
      const { text } = JSON.parse(String(body));
      this.responses.set(path.slice(9), text);
      this.answers.push(text);
      return void response.end("ok");
    }
    if (path.startsWith("/upload/")) {
      const form = new Response(new Uint8Array(body), {
        headers: { "content-type": request.headers["content-type"] ?? "" },
      });
      await this.keep(path.slice(8), form);
      return void response.end("OK");
    }
    this.call(path.replace(/^\/api\//, ""), readForm(body), request, response);
  }

  private call(name: string, sent: Sent, request: IncomingMessage, response: ServerResponse): void {
    this.requests.push({ method: name, at: Date.now() });
    const wait = this.options.limits.ask(name);
    if (wait !== undefined) {
      response.writeHead(429, { "retry-after": String(wait) });
      return void response.end(JSON.stringify({ ok: false, error: "ratelimited" }));
    }
    const token = (request.headers.authorization ?? "").replace("Bearer ", "") || sent.token;
    const mishap = this.mishaps.map((one) => one(name)).find(Boolean);
    const answer = mishap && mishap !== "lose" ? mishap : this.answer(name, sent, token);
    if (mishap === "lose") return void response.destroy();
    const scopes = { "x-oauth-scopes": this.options.scopes.join(",") };
    response.writeHead(200, { "content-type": "application/json", ...scopes });
    response.end(JSON.stringify(answer));
  }

  private answer(name: string, sent: Sent, token: string | undefined): Answer {
    const wanted = name === "apps.connections.open" ? this.options.appToken : this.options.token;
    if (token !== wanted) return failed("invalid_auth");
    const needed = scopesOf[name];
    if (needed && !this.options.scopes.includes(needed)) {
      return { ...failed("missing_scope"), needed, provided: this.options.scopes.join(",") };
    }
    return this.methods[name]?.(sent) ?? failed("unknown_method");
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
      const wanted = types.split(",");
      const needed = wanted.map((type) => scopesOfTypes[type] ?? "");
      const missing = needed.find((scope) => !this.options.scopes.includes(scope));
      if (missing) return { ...failed("missing_scope"), needed: missing };
      const channels = [...this.workspace.channels]
        .filter(([, { direct }]) => wanted.includes(direct === null ? "public_channel" : "im"))
        .map(([id, { name }]) => ({ id, name }));
      return ok({ channels });
    },
    "conversations.info": ({ channel = "" }) => {
      const found = this.workspace.channels.get(channel);
      return found ? ok({ channel: { id: channel, name: found.name } }) : noChannel;
    },
    "conversations.history": (sent) => {
      const said = this.said(sent).filter(({ thread_ts, ts }) => (thread_ts ?? ts) === ts);
      return this.page(sent, said.reverse());
    },
    "conversations.replies": (sent) => {
      const said = this.said(sent).filter(
        ({ thread_ts, ts }) => thread_ts === sent.ts || ts === sent.ts,
      );
      return this.page(sent, said);
    },
    "chat.postMessage": (sent) => this.post(sent),
    "chat.update": ({ channel = "", ts = "", text, blocks }) => {
      const message = this.workspace.find(channel, ts);
      if (!message) return failed("message_not_found");
      if (message.user !== this.workspace.bot.user) return failed("cant_update_message");
      if ((text ?? "").length > longestText) return failed("msg_too_long");
      if (hasLongSection(blocks)) return failed("invalid_blocks");
      message.text = text ?? message.text;
      message.changes.push(message.text);
      if (blocks !== undefined) message.blocks = JSON.parse(blocks) as Block[];
      return ok({ channel, ts, text: message.text });
    },
    "assistant.threads.setStatus": ({ channel_id: channel = "", thread_ts = "", status = "" }) => {
      if (!this.workspace.channels.has(channel)) return noChannel;
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
      const given = JSON.parse(files) as { id: string; title: string }[];
      const stored = given.map(({ id, title }) => this.store(id, title));
      const { user, id: bot_id } = this.workspace.bot;
      this.workspace.say({ channel, thread_ts, user, bot_id, text: "", files: stored });
      return ok({ files: stored });
    },
  };

  private post({ channel = "", thread_ts, text = "", blocks, metadata }: Sent): Answer {
    if (!this.workspace.channels.has(channel)) return noChannel;
    if (text === "" && blocks === undefined) return failed("no_text");
    if (text.length > longestText) return failed("msg_too_long");
    if (hasLongSection(blocks)) return failed("invalid_blocks");
    const { user, id: bot_id } = this.workspace.bot;
    const message = this.workspace.say({
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

  private said({ channel, oldest = "0", latest = "9999999999" }: Sent): WorkspaceMessage[] {
    return this.workspace.messages.filter(
      (one) =>
        one.channel === channel &&
        Number(one.ts) > Number(oldest) &&
        Number(one.ts) < Number(latest),
    );
  }

  private page({ limit = "100", include_all_metadata: all }: Sent, said: WorkspaceMessage[]) {
    const messages = said.slice(0, Number(limit)).map(({ metadata, ...message }) => ({
      type: "message",
      ...message,
      ...(all === "true" ? { metadata } : {}),
    }));
    return ok({ messages, has_more: false });
  }

  private async keep(id: string, form: Response): Promise<void> {
    const known = this.uploads.get(id);
    if (!known) return;
    const isForm = form.headers.get("content-type")?.startsWith("multipart/");
    const [content] = isForm
      ? [...(await form.formData()).values()].filter((value) => typeof value !== "string")
      : [await form.blob()];
    known.content = content ? Buffer.from(await content.arrayBuffer()) : known.content;
  }

  private store(id: string, title: string) {
    const { name, content } = this.uploads.get(id) ?? { name: "file", content: Buffer.alloc(0) };
    const path = `/files/${id}/content`;
    this.workspace.files.set(path, content);
    const url_private_download = `${this.options.origin()}${path}`;
    return { id, name, title, mimetype: "text/plain", size: content.length, url_private_download };
  }
}

const scopesOf: Record<string, string> = {
  "chat.postMessage": "chat:write",
  "chat.update": "chat:write",
  "assistant.threads.setStatus": "chat:write",
  "conversations.history": "channels:history",
  "conversations.info": "channels:read",
  "reactions.add": "reactions:write",
  "users.info": "users:read",
  "files.getUploadURLExternal": "files:write",
};

const scopesOfTypes: Record<string, string> = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
};

const noChannel = failed("channel_not_found");

function ok(more: Record<string, unknown> = {}): Answer {
  return { ok: true, ...more };
}

function failed(error: string): Answer {
  return { ok: false, error };
}

function readForm(body: Buffer): Sent {
  return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
}
