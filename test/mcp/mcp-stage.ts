import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished } from "vitest";
import { program } from "../cli/herdctl.ts";

/** Has claude wait for its servers before the first turn, however busy the machine is. */
export const patient = { MCP_CONNECTION_NONBLOCKING: "0" };

export interface FleetTools {
  client: Client;
  names(): Promise<string[]>;
  /** The structured answer; fails when the tool does. */
  ask<T = Record<string, unknown>>(tool: string, input?: object): Promise<T>;
  /** What the tool said when it refused; fails when it did not. */
  refusal(tool: string, input?: object): Promise<string>;
  /** The texts of the answer. */
  texts(tool: string, input?: object): Promise<string[]>;
}

/** `herdctl mcp` as any client starts it, with the official client at the other end. */
export async function overStdio(
  on: { folder: string; env: Record<string, string> },
  ...args: string[]
): Promise<FleetTools & { said(): string }> {
  const transport = new StdioClientTransport({
    command: program,
    args: ["mcp", "--config", on.folder, ...args],
    env: on.env,
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (text) => {
    said += text;
  });
  return { ...(await connected(transport)), said: () => said };
}

export function overHttp(url: string, token: string): Promise<FleetTools> {
  const headers = { authorization: `Bearer ${token}` };
  return connected(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
}

export async function connected(transport: Transport): Promise<FleetTools> {
  const client = new Client({ name: "test-client", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (name: string, input: object = {}) =>
    CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...input } }));
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    ask: async <T>(tool: string, input?: object) => {
      const answer = await call(tool, input);
      if (answer.isError) expect.fail(`${tool}: ${textsOf(answer).join("\n")}`);
      return answer.structuredContent as T;
    },
    refusal: async (tool, input) => {
      const answer = await call(tool, input);
      return answer.isError ? textsOf(answer).join("\n") : expect.fail(`${tool} was not refused`);
    },
    texts: async (tool, input) => textsOf(await call(tool, input)),
  };
}

function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => (block.type === "text" ? block.text : block.type));
}
