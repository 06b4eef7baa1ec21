import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/internal.ts", "src/runner/process/main.ts"],
  platform: "node",
  dts: true,
  // Only to count what of the source tests have run.
  sourcemap: process.env.HERDCTL_SOURCE_MAPS === "1" && "hidden",
});
