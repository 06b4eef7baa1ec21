import { expect, it, onTestFinished } from "vitest";
import { Leadership } from "../../packages/core/src/fleet/leader-services.ts";
import { waitUntil } from "../support/fleet-child-process.ts";

it("opens and closes leader services alternately however fast the leader changes", async () => {
  const { leader: leadership, seen } = createLeaderServices();
  await Promise.all(
    [true, false, true, true, false, true].map((isLead) => leadership.setLeader(isLead)),
  );
  expect(seen.at(-1)).toBe("open");
  for (const [index, word] of seen.entries()) expect(word).toBe(index % 2 === 0 ? "open" : "close");
});

it("retries to open leader services while the node is still leader", async () => {
  const { leader: leadership, seen } = createLeaderServices(1);
  await leadership.setLeader(true);
  expect(seen).toEqual(["failed", "close"]);
  await waitUntil("them to be opened", async () => seen.includes("open"));
});

it("opens and closes nothing after it was stopped", async () => {
  const { leader: leadership, seen } = createLeaderServices();
  await leadership.setLeader(true);
  await leadership.stop();
  await leadership.setLeader(false);
  expect(seen).toEqual(["open"]);
});

function createLeaderServices(failures = 0) {
  const seen: string[] = [];
  let toFail = failures;
  const open = async () => {
    await new Promise((done) => setTimeout(done, 5));
    if (toFail > 0) {
      toFail -= 1;
      seen.push("failed");
      throw new Error("not now");
    }
    seen.push("open");
  };
  const close = async () => void seen.push("close");
  const leadership = new Leadership({ open, close, poll: () => undefined }, () => undefined);
  onTestFinished(() => leadership.stop());
  return { leader: leadership, seen };
}
