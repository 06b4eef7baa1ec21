import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/herdctl.ts"],
  platform: "node",
  dts: false,
});
