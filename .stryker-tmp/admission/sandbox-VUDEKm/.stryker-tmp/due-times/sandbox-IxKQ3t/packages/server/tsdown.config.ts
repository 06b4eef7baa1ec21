import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/client.ts", "src/contract.ts", "src/mcp.ts"],
  platform: "node",
  dts: true,
  // One file, as every command loads it.
  outputOptions: {
    codeSplitting: { groups: [{ name: "client-parts", test: /server\/src\/client\.ts$/ }] },
  },
  // Types of messages are those of the engine's own library.
  deps: { neverBundle: [/^@anthropic-ai\//] },
});
