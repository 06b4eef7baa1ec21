import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

test("loads the Agent SDK in one file only, and its types elsewhere", () => {
  const root = resolve(import.meta.dirname, "../../packages");
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => /^\w+\/src\/.*\.tsx?$/.test(name) && !name.includes("node_modules"),
  );
  const types =
    /import type [^;]*? from "@anthropic-ai\/claude-agent-sdk";|typeof import\([^)]*\)/g;
  const loads = /(from|import|require)\s*\(?\s*"@anthropic-ai\/claude-agent-sdk"/;
  const loading = sources.filter((name) =>
    loads.test(readFileSync(join(root, name), "utf8").replaceAll(types, "")),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(loading).toEqual(["core/src/runner/runtimes/sdk-runtime.ts"]);
});
