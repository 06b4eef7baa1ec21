import { defineConfig } from "tsdown";

// Each file costs a command half a millisecond at its start. So what all commands need is one file,
// and what many of them share is another.
export default defineConfig({
  entry: ["src/herdctl.ts"],
  platform: "node",
  dts: false,
  deps: { onlyBundle: ["commander", "diff", "picocolors"] },
  outputOptions: {
    codeSplitting: {
      groups: [
        {
          name: "start",
          test: /cli\/(src\/(commands|hide-sqlite-warning|terminal)\.ts|package\.json)$/,
          priority: 1,
        },
        { name: "shared", test: /cli\/src\/(?!service\/)/, minShareCount: 4 },
      ],
    },
  },
});
