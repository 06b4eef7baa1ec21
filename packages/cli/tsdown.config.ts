import { defineConfig } from "tsdown";

// Each file costs a command a millisecond at its start. So what many commands share is one file,
// and what all of them need is part of the program.
export default defineConfig({
  entry: ["src/herdctl.ts"],
  platform: "node",
  dts: false,
  deps: { onlyBundle: ["commander", "picocolors"] },
  outputOptions: {
    codeSplitting: { groups: [{ name: "shared", test: /cli\/src/, minShareCount: 4 }] },
  },
});
