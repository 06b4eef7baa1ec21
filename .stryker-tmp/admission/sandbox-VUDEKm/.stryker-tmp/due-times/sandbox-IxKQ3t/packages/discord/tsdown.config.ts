import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/stand-in.ts"],
  platform: "node",
  dts: true,
});
