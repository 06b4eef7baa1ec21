import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/client.ts", "src/contract.ts", "src/mcp.ts"],
  platform: "node",
  dts: true,
});
