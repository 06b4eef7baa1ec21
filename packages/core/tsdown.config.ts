import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/document.ts"],
  platform: "node",
  dts: true,
});
