import type {
  createSdkMcpServer,
  McpSdkServerConfigWithInstance,
} from "@anthropic-ai/claude-agent-sdk";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Bridge } from "./bridge.ts";
import type { Bridges } from "./bridges.ts";
import { isRequest } from "./json-rpc.ts";

/** Bridged servers in the form that the SDK takes: servers of its own, which answer through us. */
export function sdkServers(
  bridges: Bridges,
  create: typeof createSdkMcpServer,
): Record<string, McpSdkServerConfigWithInstance> {
  return Object.fromEntries(
    bridges.entries().map(([name, bridge]) => {
      const server = create({ name });
      server.instance.connect = (transport) => attach(bridge, transport);
      return [name, server];
    }),
  );
}

async function attach(bridge: Bridge, transport: Transport): Promise<void> {
  // The SDK closes it when the run is over, and then nobody waits for an answer.
  const send: Transport["send"] = (message) => transport.send(message).catch(() => undefined);
  transport.onmessage = (message) => {
    if (isRequest(message)) void bridge.ask(message).then((answer) => send(answer));
    else bridge.tell(message);
  };
  bridge.listen((word) => void send(word));
  await transport.start();
}
