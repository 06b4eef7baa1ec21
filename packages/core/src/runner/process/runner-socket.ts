import { randomUUID } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { Question, Reply } from "@herdctl/protocol";
import { LineSplitter } from "../../lib/line-splitter.ts";
import { makeSocketPath, removeSocket } from "../../lib/socket-path.ts";
import type { SendToolCall, ToolCallAnswer } from "../../store/model/tool-call.ts";
import {
  type ApprovalRequestMessage,
  type ApprovalWithdrawnMessage,
  approvalTimeoutMs,
  maxMessageBytes,
  type PermissionAnswer,
  type PermissionRequest,
  parseRunnerCommand,
  type RunnerCommand,
  type RunnerMessage,
  type ToolCallRequest,
} from "../contract/messages.ts";
import { sessionPermissions } from "../contract/permission-rules.ts";

type AnswerCommand = Extract<RunnerCommand, { type: "answer" }>;
type ApprovalResult = AnswerCommand | "expired" | "withdrawn";

/** The fleet expires a question itself. The runner only does so if no fleet is connected. */
const fleetGraceMs = 5_000;

/** A person cannot answer more. Without a limit, a program that impersonates claude could ask forever. */
const maxOpenApprovals = 100;

interface ApprovalListener {
  onAsked(approval: ApprovalRequestMessage): void;
  onWithdrawn(approval: ApprovalWithdrawnMessage): void;
}

/**
 * Requests of this run to people: permissions and questions. They are sent to all connected clients;
 * without one, they wait until a client connects or they expire. No answer means denied.
 */
export class PendingApprovalRequests {
  private readonly open = new Map<
    string,
    { request: ApprovalRequestMessage; close(result: ApprovalResult): void }
  >();

  constructor(private readonly listener: ApprovalListener) {}

  get all(): ApprovalRequestMessage[] {
    return [...this.open.values()].map(({ request }) => request);
  }

  readonly askPermission = async (
    { tool, input, description, suggestedRules = [] }: PermissionRequest,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> => {
    const expires_at = new Date(Date.now() + approvalTimeoutMs).toISOString();
    const details = {
      ...{ tool, input, expires_at, suggested_rules: [...suggestedRules] },
      ...(description !== undefined && { description }),
    };
    return toPermissionAnswer(await this.awaitResult(details, signal), input);
  };

  readonly question = async (
    { tool, input, expires_at, ...question }: Question,
    signal: AbortSignal,
  ): Promise<Reply> =>
    toReply(await this.awaitResult({ tool, input, expires_at, question }, signal), question);

  /** Only the first answer counts. */
  answer(result: AnswerCommand): void {
    this.open.get(result.request_id)?.close(result);
  }

  private awaitResult(
    details: Omit<ApprovalRequestMessage, "type" | "request_id" | "requested_at">,
    signal: AbortSignal,
  ): Promise<ApprovalResult> {
    if (this.open.size >= maxOpenApprovals) return Promise.resolve("withdrawn");
    const request_id = randomUUID();
    const requested_at = new Date().toISOString();
    const request: ApprovalRequestMessage = {
      type: "approval",
      request_id,
      requested_at,
      ...details,
    };
    return new Promise((resolve) => {
      const remainingMs = Date.parse(details.expires_at) - Date.now() + fleetGraceMs;
      const expiry = setTimeout(() => close("expired"), remainingMs);
      const withdraw = () => close("withdrawn");
      const close = (result: ApprovalResult) => {
        if (!this.open.delete(request_id)) return;
        clearTimeout(expiry);
        signal.removeEventListener("abort", withdraw);
        const why = typeof result === "string" ? result : "answered";
        this.listener.onWithdrawn({ type: "approval_withdrawn", request_id, why });
        resolve(result);
      };
      this.open.set(request_id, { request, close });
      this.listener.onAsked(request);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
    });
  }
}

function toPermissionAnswer(
  result: ApprovalResult,
  input: PermissionRequest["input"],
): PermissionAnswer {
  if (typeof result === "string")
    return { behavior: "deny", message: "This was not allowed by a person." };
  if (result.behavior === "allow") {
    const { rules = [] } = result;
    return {
      ...{ behavior: "allow", updatedInput: input },
      ...(rules.length > 0 && { updatedPermissions: sessionPermissions(rules) }),
    };
  }
  const byPerson = result.by_person ?? false;
  return { behavior: "deny", message: result.message || "A person denied this.", byPerson };
}

/** A fleet of an older version sends no `reply`; its `allow` is not an answer to a question. */
function toReply(
  result: ApprovalResult,
  { default_reply }: Pick<Question, "default_reply">,
): Reply {
  if (result === "expired" && default_reply !== null)
    return { kind: "default", text: default_reply };
  if (typeof result === "string") return { kind: "none", why: result };
  return result.reply ?? { kind: "none", why: "nobody" };
}

type ToolCallAnswerCommand = Extract<RunnerCommand, { type: "tool_call_answer" }>;

/**
 * Tool calls that the fleet handles for this run. Open calls are sent again to every client that
 * connects: the fleet may be killed at any time, and its successor gives the same answer.
 */
export class PendingToolCalls {
  private readonly open = new Map<string, { request: ToolCallRequest; close: CloseToolCall }>();

  constructor(private readonly sendLine: (line: RunnerMessage) => void) {}

  get all(): ToolCallRequest[] {
    return [...this.open.values()].map(({ request }) => request);
  }

  readonly send: SendToolCall = (kind, input, signal) =>
    new Promise((resolve) => {
      const request_id = randomUUID();
      const request: ToolCallRequest = { type: "tool_call", request_id, kind, input };
      const withdraw = () => {
        this.sendLine({ type: "tool_call_withdrawn", request_id });
        close({ kind: "refused", reason: "It is no longer wanted." });
      };
      const close: CloseToolCall = (answer) => {
        if (!this.open.delete(request_id)) return;
        signal.removeEventListener("abort", withdraw);
        resolve(answer);
      };
      this.open.set(request_id, { request, close });
      this.sendLine(request);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
    });

  answer({ request_id, answer }: ToolCallAnswerCommand): void {
    this.open.get(request_id)?.close(answer);
  }
}

type CloseToolCall = (answer: ToolCallAnswer) => void;

interface RunnerSocketOptions {
  /** Sent to every client when it connects. */
  initialMessages(): RunnerMessage[];
  onCommand(command: RunnerCommand): void;
}

/** A client that does not read is disconnected before its unread messages take too much memory. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** The runner's socket. Any client that can open the job's folder may connect. */
export class RunnerSocket {
  private readonly clients = new Set<Socket>();
  private readonly server: Server;
  private isClosed = false;

  constructor(
    private readonly path: string,
    private readonly options: RunnerSocketOptions,
  ) {
    this.server = createServer((client) => this.handleConnection(client));
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(makeSocketPath(this.path), resolve);
    });
  }

  broadcast(line: RunnerMessage): void {
    for (const client of this.clients) send(client, line);
  }

  /** Runs only once, because a later run may already listen on the same path. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.server.close();
    for (const client of this.clients) client.destroySoon();
    removeSocket(this.path);
  }

  private handleConnection(client: Socket): void {
    this.clients.add(client);
    client.on("error", () => client.destroy());
    client.once("close", () => this.clients.delete(client));
    const reader = new LineSplitter(0, maxMessageBytes);
    client.on("data", (chunk) => {
      for (const line of reader.pushText(chunk)) {
        const command = parseRunnerCommand(line);
        if (command) this.options.onCommand(command);
      }
      // defence: runner-line-limit
      if (reader.isOverLimit) client.destroy();
    });
    for (const line of this.options.initialMessages()) send(client, line);
  }
}

function send(client: Socket, line: RunnerMessage): void {
  if (/* defence: runner-unread-limit */ client.writableLength > maxUnreadBytes) client.destroy();
  else client.write(`${JSON.stringify(line)}\n`);
}
