import { afterAll } from "vitest";

const leakingResourceTypes = new Set([
  "TCPServerWrap",
  "PipeServerWrap",
  "ProcessWrap",
  "FSEventWrap",
]);

afterAll(async () => {
  const deadline = Date.now() + 1_000;
  while (openResources().length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (openResources().length > 0)
    throw new Error(`the test file left open: ${openResources().join(", ")}`);
});

function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => leakingResourceTypes.has(name));
}
