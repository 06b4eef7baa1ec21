import { randomUUID } from "node:crypto";
import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import type { Bridges } from "./mcp/bridges.ts";
import { isRequest, jsonRpcMessage } from "./mcp/json-rpc.ts";
import { MessageQueue } from "./message-queue.ts";
import { outputLimits } from "./output-gate.ts";
import type { PermissionAnswer } from "./permission.ts";
import { LineSplitter } from "./session-file/splitter.ts";
import type { ClaudeProcess } from "./spawn.ts";

const controlRequest = z.looseObject({
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

const controlResponse = z.looseObject({
  response: z.looseObject({
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
});

const toolRequest = z.looseObject({
  subtype: z.literal("can_use_tool"),
  tool_name: z.string(),
  tool_use_id: z.string().optional(),
  input: z.record(z.string(), z.unknown()),
  description: z.string().optional(),
});

const serverRequest = z.looseObject({
  subtype: z.literal("mcp_message"),
  server_name: z.string(),
  message: jsonRpcMessage,
});

/** Our side of the protocol that the binary speaks on its standard streams. */
export class ControlClient {
  readonly messages = new MessageQueue<SDKMessage>();
  private readonly asked = new Map<string, AbortController>();
  /** Requests of ours that wait for their answer. */
  private readonly awaited = new Map<string, (answer: unknown) => void>();

  constructor(
    private readonly process: ClaudeProcess,
    private readonly bridges: Bridges,
  ) {
    this.read();
    for (const [server_name, bridge] of bridges.entries()) {
      bridge.listen((message) => {
        this.request({ subtype: "mcp_message", server_name, message });
      });
    }
  }

  say(message: SDKUserMessage): void {
    this.send(message);
  }

  /** Undefined when claude ends without an answer, and its error where it gives one. */
  readSettings(): Promise<unknown> {
    return new Promise((resolve) => {
      const { stdout } = this.process;
      if (stdout.readableEnded) return resolve(undefined);
      stdout.once("end", () => resolve(undefined));
      this.awaited.set(this.request({ subtype: "get_settings" }), resolve);
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
        if (line.kind === "complete") this.receive(line.bytes);
    });
    stdout.once("end", () => this.messages.end());
  }

  private receive(bytes: Buffer): void {
    const line = parseLine(bytes);
    if (line === undefined || passedOver.has(line.type)) return;
    if (line.type === "control_response") this.settle(line);
    else if (line.type === "control_request") void this.answer(line);
    else if (line.type === "control_cancel_request") this.withdraw(line);
    // The edge: what the binary says is an SDKMessage, also when this version does not know it.
    else this.messages.push(line as SDKMessage);
  }

  private async answer(line: unknown): Promise<void> {
    const parsed = controlRequest.safeParse(line);
    if (!parsed.success) return;
    const { request_id, request } = parsed.data;
    const response = await this.respond(request_id, request);
    const answer = response
      ? { subtype: "success", response }
      : { subtype: "error", error: `herdctl does not answer \`${request.subtype}\`` };
    this.send({ type: "control_response", response: { request_id, ...answer } });
  }

  private async respond(requestId: string, request: unknown): Promise<object | undefined> {
    const tool = toolRequest.safeParse(request);
    if (tool.success) return await this.permit(requestId, tool.data);
    const server = serverRequest.safeParse(request);
    return server.success ? await this.carry(server.data) : undefined;
  }

  private async carry(request: z.infer<typeof serverRequest>): Promise<object | undefined> {
    const bridge = this.bridges.find(request.server_name);
    if (!bridge) return undefined;
    const { message } = request;
    if (isRequest(message)) return { mcp_response: await bridge.ask(message) };
    bridge.tell(message);
    return { mcp_response: received };
  }

  private async permit(
    requestId: string,
    request: z.infer<typeof toolRequest>,
  ): Promise<PermissionAnswer> {
    const { onPermission } = this.bridges;
    if (!onPermission) return { behavior: "deny", message: "Nobody can be asked for permission." };
    const withdrawn = new AbortController();
    this.asked.set(requestId, withdrawn);
    try {
      const { tool_name: tool, tool_use_id: toolUseId = requestId, input, description } = request;
      return await onPermission({ tool, toolUseId, input, description }, withdrawn.signal);
    } finally {
      this.asked.delete(requestId);
    }
  }

  private settle(line: unknown): void {
    const { data } = controlResponse.safeParse(line);
    if (!data) return;
    const { request_id, response, error } = data.response;
    this.awaited.get(request_id)?.(response ?? { error });
    this.awaited.delete(request_id);
  }

  private withdraw(line: unknown): void {
    const parsed = z.looseObject({ request_id: z.string() }).safeParse(line);
    if (parsed.success) this.asked.get(parsed.data.request_id)?.abort();
  }

  private request(request: object): string {
    const request_id = randomUUID();
    this.send({ type: "control_request", request_id, request });
    return request_id;
  }

  private send(message: object): void {
    if (this.process.stdin.writable) this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

/** The answer to a message that asks for none. */
const received = { jsonrpc: "2.0", result: {}, id: 0 };

/** Talk between the two programs that is no message of the run. */
const passedOver = new Set(["keep_alive", "transcript_mirror"]);

/** The object as it came, with all it holds. */
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
