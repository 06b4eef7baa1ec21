import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from "@modelcontextprotocol/sdk/types.js";
import type { BridgedServer } from "./bridged-server.ts";
import { FloodGuard } from "./flood-guard.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { isRequest, isResponse } from "./json-rpc.ts";
import { LastingLink } from "./lasting-link.ts";
import type { Link, ServerWord } from "./link.ts";
import {
  type Access,
  accessFor,
  mayNotifyServer,
  mayReachClaude,
  permittedOffer,
  withoutCapabilities,
} from "./method-rules.ts";
import { reasonOf } from "./reason-of.ts";

export interface BridgeOptions {
  /** How long anything but a tool call may take, in milliseconds. */
  patience: number;
  mayCall(tool: string, input: unknown): boolean;
  /** Whether the agent's rules open what is no tool: resources, prompts. */
  permits(access: Exclude<Access, "tool">): boolean;
  spawned(pid: number): void;
  /** For the log. */
  note(text: string): void;
}

/** Carries the messages between claude and one server that is with us. */
export class Bridge {
  private readonly link: LastingLink;
  private readonly guard = new FloodGuard();
  private greeting: Promise<JSONRPCResponse> | undefined;
  private isInitialized = false;
  private closed: Promise<void> | undefined;
  private listener: (word: ServerWord) => void = () => undefined;

  constructor(
    private readonly name: string,
    private readonly server: BridgedServer,
    private readonly options: BridgeOptions,
  ) {
    this.link = new LastingLink(server, {
      patience: options.patience,
      spawned: options.spawned,
      onWord: (word, from) => this.pass(word, from),
      note: (reason, stderr) => this.note([reason, ...stderr.map((line) => `  ${line}`)]),
    });
  }

  open(): void {
    void this.link.open();
  }

  /** Who hears what the server says unasked. */
  listen(listener: (word: ServerWord) => void): void {
    this.listener = listener;
  }

  /** Always answers, with an error if need be. */
  async ask(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    try {
      if (request.method === "initialize") return await this.greet(request);
      this.refuseForbidden(request);
      const link = await this.link.live();
      const answer = link.request(request);
      // How long a tool may take is between claude and the agent's configuration.
      return await (request.method === "tools/call" ? answer : this.link.soon(answer));
    } catch (error) {
      const message = this.worded(reasonOf(error)).slice(0, longestReason);
      return { jsonrpc: "2.0", id: request.id, error: { code: -32000, message } };
    }
  }

  tell(message: JSONRPCNotification | JSONRPCResponse): void {
    const method = isResponse(message) ? undefined : message.method;
    if (method !== undefined && !mayNotifyServer(method)) return;
    if (method === "notifications/initialized") {
      if (this.isInitialized) return;
      this.isInitialized = true;
    }
    void this.link.open().then(
      (link) => link.tell(message),
      // Whoever asks it hears that it is not there.
      () => undefined,
    );
  }

  close(): Promise<void> {
    this.closed ??= this.shut();
    return this.closed;
  }

  /** The SDK greets a server before claude does, and claude tries twice; a server hears one. */
  private async greet(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    this.greeting ??= this.link.introduce(withoutCapabilities(request));
    const answer = { ...(await this.greeting), id: request.id };
    if ("error" in answer) return answer;
    return { ...answer, result: permittedOffer(answer.result, this.permits) };
  }

  private readonly permits = (access: Access) => access !== "tool" && this.options.permits(access);

  private refuseForbidden({ method, params }: JSONRPCRequest): void {
    const access = accessFor(method);
    const isPermitted =
      access === "tool"
        ? this.options.mayCall(String(params?.name), params?.arguments)
        : access !== undefined && this.options.permits(access);
    if (isPermitted) return;
    const what = access === "tool" ? params?.name : method;
    const refusal = `\`${what}\` is not permitted to this agent`;
    this.note([refusal.slice(0, longestReason)]);
    throw new Error(refusal);
  }

  private pass(word: ServerWord, from: Link): void {
    const isKnown = mayReachClaude(word);
    if (isKnown && this.guard.passes(word)) {
      this.listener(word);
      return;
    }
    if (!isRequest(word)) return;
    const error = isKnown
      ? { code: -32000, message: "too much at once" }
      : { code: methodNotFound, message: `Method not found: ${word.method}` };
    from.tell({ jsonrpc: "2.0", id: word.id, error });
  }

  private async shut(): Promise<void> {
    await this.link.close();
    const { dropped } = this.guard;
    if (dropped > 0) this.note([`${dropped} messages that nobody asked for were dropped`]);
  }

  private note(lines: string[]): void {
    this.options.note(`${this.worded(lines.join("\n"))}\n`);
  }

  private worded(text: string): string {
    return hideSecrets(`MCP server \`${this.name}\`: ${text}`, this.server.secrets ?? []);
  }
}

const longestReason = 500;
const methodNotFound = -32601;
