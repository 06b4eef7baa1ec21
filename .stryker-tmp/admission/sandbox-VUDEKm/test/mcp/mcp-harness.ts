import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished } from "vitest";
import { program } from "../cli/run-herdctl.ts";

/** Makes claude wait for its servers before the first turn. */
export const blockingMcpEnv = { MCP_CONNECTION_NONBLOCKING: "0" };

export interface FleetTools {
  client: Client;
  names(): Promise<string[]>;
  /** The structured answer; throws when the tool fails. */
  callTool<T = Record<string, unknown>>(tool: string, input?: object): Promise<T>;
  /** The message of a refusal; throws when the tool succeeds. */
  expectRefusal(tool: string, input?: object): Promise<string>;
  /** The texts of the answer. */
  callForTexts(tool: string, input?: object): Promise<string[]>;
}

/** Starts `herdctl mcp` as a client does and connects the official client. */
export async function connectOverStdio(
  harness: { folder: string; env: Record<string, string> },
  ...args: string[]
): Promise<FleetTools & { output(): string }> {
  const transport = new StdioClientTransport({
    command: program,
    args: ["mcp", "--config", harness.folder, ...args],
    env: harness.env,
    stderr: "pipe",
  });
  let output = "";
  transport.stderr?.on("data", (text) => {
    output += text;
  });
  return { ...(await connectTools(transport)), output: () => output };
}

export function connectOverHttp(url: string, token: string): Promise<FleetTools> {
  const headers = { authorization: `Bearer ${token}` };
  return connectTools(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
}

export async function connectTools(transport: Transport): Promise<FleetTools> {
  const client = new Client({ name: "test-client", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (name: string, input: object = {}) =>
    CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...input } }));
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async <T>(tool: string, input?: object) => {
      const answer = await call(tool, input);
      if (answer.isError) expect.fail(`${tool}: ${textsOf(answer).join("\n")}`);
      return answer.structuredContent as T;
    },
    expectRefusal: async (tool, input) => {
      const answer = await call(tool, input);
      return answer.isError ? textsOf(answer).join("\n") : expect.fail(`${tool} was not refused`);
    },
    callForTexts: async (tool, input) => textsOf(await call(tool, input)),
  };
}

function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => (block.type === "text" ? block.text : block.type));
}
