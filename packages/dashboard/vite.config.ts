import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds into the server package. Nothing is inlined, because the content security policy forbids it. */
export default defineConfig({
  root: at("."),
  plugins: [react(), tailwind()],
  resolve: {
    alias: {
      "@herdctl/server/contract": at("../server/src/contract.ts"),
      // The source, so that only its parts for browsers are included, and its build is not needed.
      "@herdctl/protocol": at("../protocol/src/index.ts"),
    },
  },
  build: {
    outDir: at("../server/dashboard"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: ["chrome123", "firefox121", "safari17.5"],
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  // For `npx vite packages/dashboard` with a running fleet.
  server: { proxy: { "/v1": "http://127.0.0.1:3232", "/login": "http://127.0.0.1:3232" } },
});
