import { afterAll } from "vitest";

const leaky = new Set(["TCPServerWrap", "PipeServerWrap", "ProcessWrap", "FSEventWrap"]);

afterAll(async () => {
  const deadline = Date.now() + 1_000;
  while (open().length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (open().length > 0) throw new Error(`the test file left open: ${open().join(", ")}`);
});

function open(): string[] {
  return process.getActiveResourcesInfo().filter((name) => leaky.has(name));
}
