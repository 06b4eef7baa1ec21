import { randomUUID } from "node:crypto";
import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { LineSplitter } from "../../lib/line-splitter.ts";
import type { ElicitationAnswer, PermissionAnswer } from "../contract/messages.ts";
import { readSuggestedRules } from "../contract/permission-rules.ts";
import { MessageQueue } from "./claude-handle.ts";
import type { InitializeFields } from "./claude-options/option-channels.ts";
import type { McpBridges } from "./mcp/bridges.ts";
import { isRequest, jsonRpcMessageSchema } from "./mcp/method-rules.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";
import { type ClaudeProcess, outputLimits } from "./spawn-claude.ts";

const controlRequestSchema = z.looseObject({
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

const controlResponseSchema = z.looseObject({
  response: z.looseObject({
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
});

const toolRequestSchema = z.looseObject({
  subtype: z.literal("can_use_tool"),
  tool_name: z.string(),
  tool_use_id: z.string().optional(),
  input: z.record(z.string(), z.unknown()),
  description: z.string().optional(),
  permission_suggestions: z.unknown().optional(),
});

const elicitationSchema = z.looseObject({
  subtype: z.literal("elicitation"),
  mcp_server_name: z.string(),
  message: z.string().catch(""),
  mode: z.enum(["form", "url"]).catch("form"),
  url: z.string().optional(),
  requested_schema: z.record(z.string(), z.unknown()).optional(),
});

const serverRequestSchema = z.looseObject({
  subtype: z.literal("mcp_message"),
  server_name: z.string(),
  message: jsonRpcMessageSchema,
});

/** The client side of the control protocol on the binary's standard streams. */
export class ControlClient {
  readonly messages = new MessageQueue<SDKMessage>();
  private readonly requestAborts = new Map<string, AbortController>();
  /** Our requests that wait for a response. */
  private readonly pendingResponses = new Map<string, (answer: unknown) => void>();

  constructor(
    private readonly process: ClaudeProcess,
    private readonly bridges: McpBridges,
    private readonly onElicitation?: ExecuteOptions["onElicitation"],
  ) {
    this.read();
    for (const [server_name, bridge] of bridges.entries()) {
      bridge.setListener((message) => {
        this.request({ subtype: "mcp_message", server_name, message });
      });
    }
  }

  sendMessage(message: SDKUserMessage): void {
    this.writeLine(message);
  }

  /** Call first, as the Agent SDK does. */
  initialize(fields: InitializeFields): Promise<unknown> {
    return this.ask({ subtype: "initialize", ...fields });
  }

  readSettings(): Promise<unknown> {
    return this.ask({ subtype: "get_settings" });
  }

  /** Undefined if claude exits without a response; `{ error }` if it responds with an error. */
  private ask(request: object): Promise<unknown> {
    return new Promise((resolve) => {
      const { stdout } = this.process;
      if (stdout.readableEnded) return resolve(undefined);
      stdout.once("end", () => resolve(undefined));
      this.pendingResponses.set(this.request(request), resolve);
    });
  }

  interrupt(): void {
    this.request({ subtype: "interrupt" });
  }

  close(): void {
    this.process.stdin.end();
  }

  private read(): void {
    const splitter = new LineSplitter(0, outputLimits.maxLineBytes);
    const { stdout } = this.process;
    stdout.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk))
        if (line.kind === "complete") this.handleLine(line.bytes);
    });
    stdout.once("end", () => this.messages.end());
  }

  private handleLine(bytes: Buffer): void {
    const line = parseLine(bytes);
    if (line === undefined || ignoredTypes.has(line.type)) return;
    if (line.type === "control_response") this.resolveResponse(line);
    else if (line.type === "control_request") void this.answer(line);
    else if (line.type === "control_cancel_request") this.cancelRequest(line);
    // Not validated: messages of the binary are SDKMessages, also of unknown types.
    else this.messages.push(line as SDKMessage);
  }

  private async answer(line: unknown): Promise<void> {
    const parsed = controlRequestSchema.safeParse(line);
    if (!parsed.success) return;
    const { request_id, request } = parsed.data;
    const response = await this.handleRequest(request_id, request);
    const answer = response
      ? { subtype: "success", response }
      : { subtype: "error", error: `herdctl does not support \`${request.subtype}\`` };
    this.writeLine({ type: "control_response", response: { request_id, ...answer } });
  }

  private async handleRequest(requestId: string, request: unknown): Promise<object | undefined> {
    const tool = toolRequestSchema.safeParse(request);
    if (tool.success) return await this.requestPermission(requestId, tool.data);
    const elicitation = elicitationSchema.safeParse(request);
    if (elicitation.success) return await this.elicit(requestId, elicitation.data);
    const server = serverRequestSchema.safeParse(request);
    return server.success ? await this.forwardToServer(server.data) : undefined;
  }

  private async forwardToServer(
    request: z.infer<typeof serverRequestSchema>,
  ): Promise<object | undefined> {
    const bridge = this.bridges.find(request.server_name);
    if (!bridge) return undefined;
    const { message } = request;
    if (isRequest(message)) return { mcp_response: await bridge.sendRequest(message) };
    bridge.notify(message);
    return { mcp_response: acknowledgement };
  }

  private async requestPermission(
    requestId: string,
    request: z.infer<typeof toolRequestSchema>,
  ): Promise<PermissionAnswer> {
    const { onPermission } = this.bridges;
    if (!onPermission)
      return { behavior: "deny", message: "There is no person to ask for permission." };
    const { tool_name: tool, tool_use_id: toolUseId = requestId, input, description } = request;
    const suggestedRules = readSuggestedRules(tool, request.permission_suggestions);
    return this.untilWithdrawn(requestId, (signal) =>
      onPermission({ tool, toolUseId, input, description, suggestedRules }, signal),
    );
  }

  /** Without a response, claude would wait for ever. */
  private async elicit(
    requestId: string,
    request: z.infer<typeof elicitationSchema>,
  ): Promise<ElicitationAnswer> {
    const { onElicitation } = this;
    if (!onElicitation) return { action: "cancel" };
    const { mcp_server_name: server, message, mode, url, requested_schema: schema } = request;
    return this.untilWithdrawn(requestId, (signal) =>
      onElicitation({ server, message, mode, url, schema }, signal),
    );
  }

  private async untilWithdrawn<T>(
    requestId: string,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const withdrawn = new AbortController();
    this.requestAborts.set(requestId, withdrawn);
    try {
      return await ask(withdrawn.signal);
    } finally {
      this.requestAborts.delete(requestId);
    }
  }

  private resolveResponse(line: unknown): void {
    const { data } = controlResponseSchema.safeParse(line);
    if (!data) return;
    const { request_id, response, error } = data.response;
    this.pendingResponses.get(request_id)?.(response ?? { error });
    this.pendingResponses.delete(request_id);
  }

  private cancelRequest(line: unknown): void {
    const parsed = z.looseObject({ request_id: z.string() }).safeParse(line);
    if (parsed.success) this.requestAborts.get(parsed.data.request_id)?.abort();
  }

  private request(request: object): string {
    const request_id = randomUUID();
    this.writeLine({ type: "control_request", request_id, request });
    return request_id;
  }

  private writeLine(message: object): void {
    if (this.process.stdin.writable) this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

/** The response to a message that needs none. */
const acknowledgement = { jsonrpc: "2.0", result: {}, id: 0 };

/** Protocol messages that do not belong to the run. */
const ignoredTypes = new Set(["keep_alive", "transcript_mirror"]);

function parseLine(bytes: Buffer): { type: string } | undefined {
  try {
    const line: unknown = JSON.parse(bytes.toString("utf8"));
    return hasType(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

function hasType(line: unknown): line is { type: string } {
  return (
    typeof line === "object" && line !== null && "type" in line && typeof line.type === "string"
  );
}
