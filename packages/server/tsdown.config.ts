import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/contract.ts", "src/mcp.ts"],
  platform: "node",
  dts: true,
  // Types of messages are those of the engine's own library.
  deps: { neverBundle: [/^@anthropic-ai\//] },
});
